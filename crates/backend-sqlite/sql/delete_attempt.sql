-- Deletes an attempt.
-- Takes uuid, partition, attempt_index.
DELETE FROM attempt WHERE uuid = ?1 AND partition = ?2 AND attempt_index = ?3
