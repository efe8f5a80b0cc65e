-- The place of the frame that a stream holds under a key.
-- Takes stream row, key.
SELECT millis, sequence FROM frame INDEXED BY frame_by_key WHERE stream_row = ?1 AND key = ?2
