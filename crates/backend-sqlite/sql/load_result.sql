-- What came of an execution.
-- Takes uuid, partition.
SELECT content_type, bytes FROM result
WHERE execution_row = (SELECT row FROM execution WHERE uuid = ?1 AND partition = ?2)
