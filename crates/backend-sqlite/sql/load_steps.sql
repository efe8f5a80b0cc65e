-- Steps in the order in which they were recorded.
-- Takes uuid, partition, the first seq, how many.
SELECT version, tag, body FROM step WHERE uuid = ?1 AND partition = ?2 AND seq >= ?3 ORDER BY seq LIMIT ?4
