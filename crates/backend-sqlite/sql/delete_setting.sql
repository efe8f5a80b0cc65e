-- Deletes a setting.
-- Takes key.
DELETE FROM setting WHERE key = ?1
