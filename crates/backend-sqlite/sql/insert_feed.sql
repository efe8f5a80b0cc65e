-- A line of a partition's feed.
-- Takes its row, partition, millis, at, line.
INSERT INTO feed (row, partition, millis, at, line) VALUES (?1, ?2, ?3, ?4, ?5)
