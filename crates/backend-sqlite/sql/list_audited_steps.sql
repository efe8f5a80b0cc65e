-- Steps by execution and key for an audit; the body of one in another partition is null.
-- Takes uuid, key, partition to start after, and the audited partition.
SELECT uuid, partition, key, CASE WHEN partition = ?4 THEN body END, NULL FROM step
WHERE (uuid, partition, key) > (?1, ?3, ?2)
ORDER BY uuid, partition, key
