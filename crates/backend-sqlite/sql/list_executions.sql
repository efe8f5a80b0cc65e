-- Executions of all namespaces, newest first.
-- Takes created_at, uuid, partition to start below, and the least created_at.
SELECT created_at, uuid, partition FROM execution INDEXED BY execution_newest
WHERE (created_at, uuid, partition) < (?1, ?2, ?3) AND created_at >= ?4
ORDER BY created_at DESC, uuid DESC, partition DESC
