-- Attempts by execution and index for an audit; the body of one in another partition is null.
-- Takes uuid, attempt_index, partition to start after, and the audited partition.
SELECT uuid, partition, CAST(attempt_index AS TEXT), CASE WHEN partition = ?4 THEN body END, NULL FROM attempt
WHERE (uuid, partition, attempt_index) > (?1, ?3, CAST(?2 AS INTEGER))
ORDER BY uuid, partition, attempt_index
