-- What an execution's index entries say.
-- Takes uuid, partition.
SELECT execution.priority, execution.created_at, execution.state, execution.cause,
    queue.namespace, queue.lane, queue.signature
FROM execution LEFT JOIN queue USING (queue_id)
WHERE execution.uuid = ?1 AND execution.partition = ?2
