-- What came with a signal.
-- Takes uuid, partition, signal_id.
SELECT content_type, bytes FROM signal_payload WHERE uuid = ?1 AND partition = ?2 AND signal_id = ?3
