-- Deletes an execution's row.
-- Takes the row.
DELETE FROM execution WHERE row = ?1
