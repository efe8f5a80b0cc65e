-- Whose lines stand between two rows of the feed.
-- Takes the row to start after, the row to end with.
SELECT row, partition FROM feed WHERE row > ?1 AND row <= ?2 ORDER BY row
