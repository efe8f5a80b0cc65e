-- Signals that arrived at a waitpoint while it was pending, by id.
-- Takes uuid, partition, the signal to start after, and the waitpoint.
SELECT signal_id, body FROM signal INDEXED BY signal_waiting
WHERE uuid = ?1 AND partition = ?2 AND waiting_at = ?4 AND signal_id > ?3
ORDER BY signal_id
