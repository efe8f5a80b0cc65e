-- What an execution works on.
-- Takes its row, content type, bytes.
INSERT OR REPLACE INTO input VALUES (?1, ?2, ?3)
