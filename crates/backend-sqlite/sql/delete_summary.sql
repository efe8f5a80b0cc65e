-- Deletes the summary of a stream.
-- Takes stream row.
DELETE FROM summary WHERE stream_row = ?1
