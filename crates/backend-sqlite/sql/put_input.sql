-- What an execution works on, if nothing was kept for it before.
-- Takes its row, content type, bytes.
INSERT OR IGNORE INTO input VALUES (?1, ?2, ?3)
