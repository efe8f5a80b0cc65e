-- When the first line of the feed from a row on was written.
-- Takes the row.
SELECT millis FROM feed WHERE row >= ?1 ORDER BY row LIMIT 1
