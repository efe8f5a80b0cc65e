-- Lines of a partition's feed between two rows.
-- Takes partition, the row to start after, the row to end with, limit.
SELECT row, millis, line FROM feed
WHERE row > ?2 AND row <= ?3 AND partition = ?1
ORDER BY row LIMIT ?4
