-- Waitpoints of an execution, by id.
-- Takes uuid, partition, and the waitpoint to start after.
SELECT waitpoint_id, version, tag, body FROM waitpoint
WHERE uuid = ?1 AND partition = ?2 AND waitpoint_id > ?3
ORDER BY waitpoint_id
