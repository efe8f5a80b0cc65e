-- A line of a partition's feed.
-- Takes partition, millis, at, line.
INSERT INTO feed (partition, millis, at, line) VALUES (?1, ?2, ?3, ?4)
