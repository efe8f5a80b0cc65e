-- The best executions of a queue.
-- Takes the queue and how many.
SELECT row, priority, created_at, uuid, partition FROM execution INDEXED BY execution_queued
WHERE queue_id = ?1 ORDER BY priority DESC, created_at, uuid, partition LIMIT ?2
