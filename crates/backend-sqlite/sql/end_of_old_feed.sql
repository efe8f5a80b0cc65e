-- The last row that may go, of the oldest lines of the feed.
-- Takes how many of them to look at, the moment up to which lines are too old, the row up to which they are too many.
SELECT max(row) FROM (SELECT row, millis FROM feed ORDER BY row LIMIT ?1) WHERE millis <= ?2 OR row <= ?3
