-- What came with a signal.
-- Takes uuid, partition, signal_id, content type, bytes.
INSERT OR REPLACE INTO signal_payload VALUES (?1, ?2, ?3, ?4, ?5)
