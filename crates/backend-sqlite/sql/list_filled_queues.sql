-- Queues that hold executions, each found by a jump past the one before.
-- Takes the queue to start after.
WITH RECURSIVE filled (queue_id) AS (
    SELECT min(queue_id) FROM execution INDEXED BY execution_queued WHERE queue_id > ?1
    UNION ALL
    SELECT (SELECT min(next.queue_id) FROM execution AS next INDEXED BY execution_queued
            WHERE next.queue_id > filled.queue_id)
    FROM filled WHERE filled.queue_id IS NOT NULL
)
SELECT queue_id, namespace, lane, signature FROM filled CROSS JOIN queue USING (queue_id)
