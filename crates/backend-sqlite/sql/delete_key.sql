-- Forgets an idempotency key.
-- Takes partition, scope, key.
DELETE FROM idempotency_key WHERE partition = ?1 AND scope = ?2 AND key = ?3
