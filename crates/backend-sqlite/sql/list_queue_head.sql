-- The best of a queue in one partition.
-- Takes the queue and the partition.
SELECT priority, created_at, uuid, partition FROM execution INDEXED BY execution_queued
WHERE queue_id = ?1 AND partition = ?2
ORDER BY priority DESC, created_at, uuid LIMIT 1
