-- What came of an execution.
-- Takes its row, content type, bytes.
INSERT OR REPLACE INTO result VALUES (?1, ?2, ?3)
