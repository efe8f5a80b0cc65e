-- What an idempotency key stands for, if it is still remembered.
-- Takes partition, scope, key, now.
SELECT version, tag, body FROM idempotency_key
WHERE partition = ?1 AND scope = ?2 AND key = ?3 AND (expires_at IS NULL OR expires_at > ?4)
