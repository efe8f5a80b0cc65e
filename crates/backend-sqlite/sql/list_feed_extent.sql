-- The last row of the feed that was trimmed, and the last one ever written.
-- Takes nothing.
SELECT feed_floor, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'feed'), 0) FROM store
