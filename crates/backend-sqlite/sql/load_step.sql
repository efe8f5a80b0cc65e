-- A step as it stands.
-- Takes uuid, partition, key.
SELECT version, tag, body FROM step WHERE uuid = ?1 AND partition = ?2 AND key = ?3
