-- Deletes an input.
-- Takes the execution's row.
DELETE FROM input WHERE execution_row = ?1
