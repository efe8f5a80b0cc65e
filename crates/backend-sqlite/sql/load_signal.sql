-- A signal as it stands.
-- Takes uuid, partition, signal_id.
SELECT version, tag, body FROM signal WHERE uuid = ?1 AND partition = ?2 AND signal_id = ?3
