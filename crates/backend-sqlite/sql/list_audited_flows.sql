-- Flows by id for an audit; the body of one in another partition is null.
-- Takes flow_id, nothing, partition to start after, and the audited partition.
SELECT flow_id, partition, '', CASE WHEN partition = ?4 THEN body END, due_at FROM flow INDEXED BY flow_by_id
WHERE (flow_id, partition) > (?1, ?3)
ORDER BY flow_id, partition
