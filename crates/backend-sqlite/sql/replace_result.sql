-- What came of an execution, instead of what was kept before.
-- Takes its row, content type, bytes.
UPDATE result SET content_type = ?2, bytes = ?3 WHERE execution_row = ?1
