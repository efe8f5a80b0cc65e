-- Lists an execution under a tag no longer.
-- Takes key, value, created_at, uuid, partition.
DELETE FROM execution_tag
WHERE key = ?1 AND value = ?2 AND created_at = ?3 AND uuid = ?4 AND partition = ?5
