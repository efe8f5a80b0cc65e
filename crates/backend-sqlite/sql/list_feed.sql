-- Lines of all feeds between two rows.
-- Takes the row to start after, the row to end with.
SELECT row, partition, millis, line FROM feed WHERE row > ?1 AND row <= ?2 ORDER BY row
