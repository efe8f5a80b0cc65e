-- Writes a signal.
-- Takes uuid, partition, signal_id, version, tag, the waitpoint it waits at, body.
INSERT OR REPLACE INTO signal VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
