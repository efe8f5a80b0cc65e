-- A new frame.
-- Takes stream row, millis, sequence, frame type, correlation id, when it is gone, content type, bytes, key.
INSERT INTO frame (stream_row, millis, sequence, frame_type, correlation_id, expires_at, content_type, bytes, key)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
