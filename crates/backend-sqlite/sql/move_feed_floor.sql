-- Notes up to which row lines of the feed are deleted, at a moment after every one that a reader was told before.
-- Takes the row, the time.
UPDATE store SET feed_floor = max(feed_floor, ?1), clock = max(clock + 1, ?2)
