-- The last row of the feed that was trimmed, and the last one ever written.
-- Takes nothing.
SELECT feed_floor, max(feed_floor, coalesce((SELECT max(row) FROM feed), 0)) FROM store
