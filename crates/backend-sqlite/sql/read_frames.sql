-- Frames of a stream from one place to another, both included, that are not gone yet.
-- Takes stream row, millis and sequence of the first and of the last place, now, how many.
SELECT millis, sequence, frame_type, correlation_id, content_type, bytes FROM frame INDEXED BY frame_by_id
WHERE stream_row = ?1 AND (millis, sequence) >= (?2, ?3) AND (millis, sequence) <= (?4, ?5)
    AND (expires_at IS NULL OR expires_at > ?6)
ORDER BY millis, sequence LIMIT ?7
