-- A line of a partition's feed.
-- Takes its row, partition, millis, line.
INSERT INTO feed (row, partition, millis, line) VALUES (?1, ?2, ?3, ?4)
