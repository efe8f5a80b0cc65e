-- An execution to be handed out, with its input.
-- Takes its row.
SELECT e.body, e.version, e.tag, i.content_type, i.bytes
FROM execution e LEFT JOIN input i ON i.execution_row = e.row WHERE e.row = ?1
