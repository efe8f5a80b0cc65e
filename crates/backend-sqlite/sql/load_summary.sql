-- The summary of a stream.
-- Takes stream row.
SELECT document FROM summary WHERE stream_row = ?1
