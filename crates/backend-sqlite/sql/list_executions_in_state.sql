-- Executions of a namespace in one of the states that have an index, newest first.
-- Takes created_at, uuid, partition to start below, the least created_at, the namespace and the state.
SELECT created_at, uuid, partition FROM execution INDEXED BY execution_by_state
WHERE namespace = ?5 AND state = ?6 AND state <> 'waiting' AND state <> 'active' AND state <> 'completed'
    AND (created_at, uuid, partition) < (?1, ?2, ?3) AND created_at >= ?4
ORDER BY created_at DESC, uuid DESC, partition DESC
