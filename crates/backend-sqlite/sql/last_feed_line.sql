-- The row and the time of the last feed line; the floor when all were trimmed.
-- Takes nothing.
SELECT max(feed_floor, coalesce((SELECT max(row) FROM feed), 0)),
    coalesce((SELECT millis FROM feed ORDER BY row DESC LIMIT 1), 0) FROM store
