-- Signals by execution and id for an audit; the body of one in another partition is null.
-- Takes uuid, signal_id, partition to start after, and the audited partition.
SELECT uuid, partition, signal_id, CASE WHEN partition = ?4 THEN body END, NULL FROM signal
WHERE (uuid, partition, signal_id) > (?1, ?3, ?2)
ORDER BY uuid, partition, signal_id
