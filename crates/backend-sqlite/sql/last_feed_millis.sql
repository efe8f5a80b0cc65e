-- The time of the last feed line.
-- Takes nothing.
SELECT max(millis) FROM (SELECT millis FROM feed ORDER BY row DESC LIMIT 1)
