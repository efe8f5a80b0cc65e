-- The row of the newest line of the feed.
-- Takes nothing.
SELECT max(row) FROM feed
