-- Deletes frames of a stream that came before a moment.
-- Takes stream row, the moment.
DELETE FROM frame INDEXED BY frame_by_id WHERE stream_row = ?1 AND millis < ?2
