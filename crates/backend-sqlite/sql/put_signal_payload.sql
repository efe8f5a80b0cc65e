-- What came with a signal, if its execution is there.
-- Takes uuid, partition, signal_id, content type, bytes.
INSERT OR REPLACE INTO signal_payload SELECT ?1, ?2, ?3, ?4, ?5
WHERE EXISTS (SELECT 1 FROM execution WHERE uuid = ?1 AND partition = ?2)
