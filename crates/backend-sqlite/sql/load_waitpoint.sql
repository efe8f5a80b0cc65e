-- A waitpoint as it stands.
-- Takes uuid, partition, waitpoint_id.
SELECT version, tag, body FROM waitpoint WHERE uuid = ?1 AND partition = ?2 AND waitpoint_id = ?3
