-- Executions by id for an audit; the body of one in another partition is null.
-- Takes uuid, nothing, partition to start after, and the audited partition.
SELECT uuid, partition, '', CASE WHEN partition = ?4 THEN body END, due_at FROM execution INDEXED BY execution_by_id
WHERE (uuid, partition) > (?1, ?3)
ORDER BY uuid, partition
