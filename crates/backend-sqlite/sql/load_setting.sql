-- A setting that is not gone yet.
-- Takes key, now.
SELECT key, value, revision, updated_at, expires_at FROM setting
WHERE key = ?1 AND (expires_at IS NULL OR expires_at > ?2)
