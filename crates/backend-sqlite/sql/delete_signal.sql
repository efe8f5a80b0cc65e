-- Deletes a signal.
-- Takes uuid, partition, signal_id.
DELETE FROM signal WHERE uuid = ?1 AND partition = ?2 AND signal_id = ?3
