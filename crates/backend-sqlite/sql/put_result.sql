-- What came of an execution, if nothing was kept for it before.
-- Takes its row, content type, bytes.
INSERT OR IGNORE INTO result VALUES (?1, ?2, ?3)
