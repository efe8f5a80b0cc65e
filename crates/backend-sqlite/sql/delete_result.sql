-- Deletes a result.
-- Takes the execution's row.
DELETE FROM result WHERE execution_row = ?1
