-- The executions of a queue, best first; the caller stops when it has enough. A bound limit would be compiled anew each time.
-- Takes the queue.
SELECT row, priority, created_at, uuid, partition FROM execution INDEXED BY execution_queued
WHERE queue_id = ?1 ORDER BY priority DESC, created_at, uuid, partition
