-- A stream that is about to get its first frame.
-- Takes uuid, partition, attempt index.
INSERT INTO stream (uuid, partition, attempt_index, frames, last_millis, last_sequence, summary_revision)
VALUES (?1, ?2, ?3, 0, 0, 0, 0)
