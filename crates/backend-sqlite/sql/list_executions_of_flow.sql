-- Members of a flow that has few of them, newest first.
-- Takes created_at, uuid, partition to start below, the least created_at, and the flow.
SELECT created_at, uuid, partition FROM execution INDEXED BY execution_members
WHERE flow_id = ?5 AND (created_at, uuid, partition) < (?1, ?2, ?3) AND created_at >= ?4
ORDER BY created_at DESC, uuid DESC, partition DESC
