-- What an execution works on, instead of what was kept before.
-- Takes its row, content type, bytes.
UPDATE input SET content_type = ?2, bytes = ?3 WHERE execution_row = ?1
