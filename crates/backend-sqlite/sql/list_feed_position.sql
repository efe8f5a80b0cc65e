-- The position of a feed row, or of the last one before it.
-- Takes the row.
SELECT row, millis FROM feed WHERE row <= ?1 ORDER BY row DESC LIMIT 1
