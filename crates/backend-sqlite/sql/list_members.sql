-- Members of a flow by id; when only open ones are wanted, the body of an ended one is null.
-- Takes flow_id, uuid and partition to start after, and whether only open ones are wanted.
SELECT uuid, partition, version, tag, CASE WHEN is_open OR NOT ?4 THEN body END
FROM execution INDEXED BY execution_members
WHERE flow_id = ?1 AND (uuid, partition) > (?2, ?3)
ORDER BY uuid, partition
