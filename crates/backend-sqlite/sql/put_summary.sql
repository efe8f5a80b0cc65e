-- The summary of a stream, in place of the one before.
-- Takes stream row, document.
INSERT INTO summary (stream_row, document) VALUES (?1, ?2)
ON CONFLICT (stream_row) DO UPDATE SET document = excluded.document
