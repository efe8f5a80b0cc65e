-- Gates by flow for an audit; the state of one in another partition is null.
-- Takes flow_id, nothing, partition to start after, and the audited partition.
SELECT flow_id, partition, '', CASE WHEN partition = ?4 THEN state END, NULL FROM gate
WHERE (flow_id, partition) > (?1, ?3)
ORDER BY flow_id, partition
