-- An execution as it stands.
-- Takes uuid, partition.
SELECT body, version, tag FROM execution WHERE uuid = ?1 AND partition = ?2
