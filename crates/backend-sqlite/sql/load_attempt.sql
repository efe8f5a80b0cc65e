-- An attempt as it stands.
-- Takes uuid, partition, attempt_index.
SELECT version, tag, body FROM attempt WHERE uuid = ?1 AND partition = ?2 AND attempt_index = ?3
