-- name: insert_feed
-- A line of a partition's feed.
INSERT INTO feed (row, partition, millis, line) VALUES (:row, :partition, :millis, :line)

-- name: last_feed_row
-- The row of the newest line of the feed.
SELECT max(row) FROM feed

-- name: end_of_old_feed
-- The last row that may go, of the oldest lines of the feed.
SELECT max(row) FROM (SELECT row, millis FROM feed ORDER BY row LIMIT :limit) WHERE millis <= :too_old OR row <= :too_many

-- name: move_feed_floor
-- Notes up to which row lines of the feed are deleted, at a moment after every one that a reader was told before.
UPDATE store SET feed_floor = max(feed_floor, :floor), clock = max(clock + 1, :now)

-- name: note_trimmed_feed
-- Notes the last row of each partition among those about to be deleted.
INSERT INTO feed_trimmed
SELECT partition, max(row), max(millis), (SELECT clock FROM store) FROM feed WHERE row <= :floor GROUP BY partition
ON CONFLICT (partition) DO UPDATE SET row = excluded.row, millis = excluded.millis, trimmed_at = excluded.trimmed_at

-- name: delete_feed
-- Deletes the lines of the feed up to a row.
DELETE FROM feed WHERE row <= :floor

-- name: list_feed
-- Lines of all feeds between two rows.
SELECT row, partition, millis, line FROM feed WHERE row > :after AND row <= :end ORDER BY row

-- name: list_feed_extent
-- The last row of the feed that was trimmed, and the last one ever written.
SELECT feed_floor, max(feed_floor, coalesce((SELECT max(row) FROM feed), 0)) FROM store

-- name: list_feed_moment
-- The moment after the last batch.
SELECT clock + 1 FROM store

-- name: list_feed_span
-- Whose lines stand between two rows of the feed.
SELECT row, partition FROM feed WHERE row > :after AND row <= :end ORDER BY row

-- name: list_feed_time
-- When the first line of the feed from a row on was written.
SELECT millis FROM feed WHERE row >= :row ORDER BY row LIMIT 1

-- name: list_feed_trimmed
-- The last row of a partition's feed that was trimmed, when it was written, and when it was trimmed.
SELECT row, millis, trimmed_at FROM feed_trimmed WHERE partition = :partition
