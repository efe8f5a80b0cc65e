-- Signals of an execution, by id.
-- Takes uuid, partition, and the signal to start after.
SELECT signal_id, body FROM signal
WHERE uuid = ?1 AND partition = ?2 AND signal_id > ?3
ORDER BY signal_id
