-- Settings in order of their names, from a name on; the reader stops where the prefix ends.
-- Takes the first name, a name to leave out, now, how many.
SELECT key, value, revision, updated_at, expires_at FROM setting
WHERE key >= ?1 AND key IS NOT ?2 AND (expires_at IS NULL OR expires_at > ?3)
ORDER BY key LIMIT ?4
