-- The position of a feed row.
-- Takes the row.
SELECT row, millis FROM feed WHERE row = ?1
