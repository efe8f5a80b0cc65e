-- Writes a setting, whether it was there or not.
-- Takes key, value, revision, now, when it is gone.
INSERT INTO setting (key, value, revision, updated_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (key) DO UPDATE SET
    value = excluded.value, revision = excluded.revision, updated_at = excluded.updated_at, expires_at = excluded.expires_at
