-- What a step left, if its execution is there.
-- Takes uuid, partition, seq, content type, bytes.
INSERT OR REPLACE INTO step_output SELECT ?1, ?2, ?3, ?4, ?5
WHERE EXISTS (SELECT 1 FROM execution WHERE uuid = ?1 AND partition = ?2)
