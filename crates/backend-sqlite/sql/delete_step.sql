-- Deletes a step.
-- Takes uuid, partition, key.
DELETE FROM step WHERE uuid = ?1 AND partition = ?2 AND key = ?3
