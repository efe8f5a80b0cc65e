-- Notes up to which row lines of the feed were deleted.
-- Takes the row.
UPDATE store SET feed_floor = max(feed_floor, ?1)
