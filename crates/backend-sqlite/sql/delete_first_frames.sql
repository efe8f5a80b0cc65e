-- Deletes the first frames of a stream.
-- Takes stream row, how many.
DELETE FROM frame WHERE rowid IN (
    SELECT rowid FROM frame INDEXED BY frame_by_id WHERE stream_row = ?1 ORDER BY millis, sequence LIMIT ?2)
