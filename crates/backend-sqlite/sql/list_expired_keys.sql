-- Idempotency keys whose time is over, the oldest first.
-- Takes now, how many at most.
SELECT partition, scope, key FROM idempotency_key INDEXED BY idempotency_key_expiring
WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2
