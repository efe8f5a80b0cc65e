-- name: put_setting
-- Writes a setting, whether it was there or not.
INSERT INTO setting (key, value, revision, updated_at, expires_at) VALUES (:key, :value, :revision, :updated_at, :expires_at)
ON CONFLICT (key) DO UPDATE SET
    value = excluded.value, revision = excluded.revision, updated_at = excluded.updated_at, expires_at = excluded.expires_at

-- name: load_setting
-- A setting that is not gone yet.
SELECT key, value, revision, updated_at, expires_at FROM setting
WHERE key = :key AND (expires_at IS NULL OR expires_at > :now)

-- name: delete_setting
-- Deletes a setting.
DELETE FROM setting WHERE key = :key

-- name: list_settings
-- Settings in order of their names, from a name on; the reader stops where the prefix ends.
SELECT key, value, revision, updated_at, expires_at FROM setting
WHERE key >= :from AND key IS NOT :after AND (expires_at IS NULL OR expires_at > :now)
ORDER BY key LIMIT :limit

-- name: tidy_settings
-- Deletes settings whose time is over.
DELETE FROM setting WHERE key IN (
    SELECT key FROM setting INDEXED BY setting_expiring WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit)
