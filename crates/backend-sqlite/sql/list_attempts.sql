-- Ended attempts of an execution, by index.
-- Takes uuid, partition, and the index to start after.
SELECT attempt_index, body FROM attempt
WHERE uuid = ?1 AND partition = ?2 AND attempt_index > ?3
ORDER BY attempt_index
