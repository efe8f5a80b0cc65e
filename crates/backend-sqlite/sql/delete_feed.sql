-- Deletes the lines of the feed up to a row.
-- Takes the row.
DELETE FROM feed WHERE row <= ?1
