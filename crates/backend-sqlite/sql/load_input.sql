-- What an execution works on.
-- Takes uuid, partition.
SELECT content_type, bytes FROM input
WHERE execution_row = (SELECT row FROM execution WHERE uuid = ?1 AND partition = ?2)
