-- Idempotency keys of a partition by scope and key for an audit, with the moment each is forgotten.
-- Takes scope and key to start after, nothing, and the audited partition.
SELECT scope, partition, key, body, expires_at FROM idempotency_key
WHERE partition = ?4 AND (scope, key) > (?1, ?2)
ORDER BY scope, key
