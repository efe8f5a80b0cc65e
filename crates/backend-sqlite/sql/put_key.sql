-- Remembers what an idempotency key stands for.
-- Takes partition, scope, key, version, tag, expires_at, body.
INSERT INTO idempotency_key VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (partition, scope, key) DO UPDATE SET version = excluded.version, tag = excluded.tag,
    expires_at = excluded.expires_at, body = excluded.body
