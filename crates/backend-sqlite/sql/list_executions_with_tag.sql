-- Executions with a tag, newest first.
-- Takes created_at, uuid, partition to start below, the least created_at, and the tag's key and value.
SELECT created_at, uuid, partition FROM execution_tag
WHERE key = ?5 AND value = ?6 AND (created_at, uuid, partition) < (?1, ?2, ?3) AND created_at >= ?4
ORDER BY created_at DESC, uuid DESC, partition DESC
