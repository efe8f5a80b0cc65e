-- Edges by id for an audit; the body of one in another partition is null.
-- Takes edge_id, nothing, partition to start after, and the audited partition.
SELECT edge_id, partition, '', CASE WHEN partition = ?4 THEN body END, NULL FROM edge
WHERE (edge_id, partition) > (?1, ?3)
ORDER BY edge_id, partition
