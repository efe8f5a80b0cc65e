-- Waitpoints by execution and id for an audit; the body of one in another partition is null.
-- Takes uuid, waitpoint_id, partition to start after, and the audited partition.
SELECT uuid, partition, waitpoint_id, CASE WHEN partition = ?4 THEN body END, due_at FROM waitpoint
WHERE (uuid, partition, waitpoint_id) > (?1, ?3, ?2)
ORDER BY uuid, partition, waitpoint_id
