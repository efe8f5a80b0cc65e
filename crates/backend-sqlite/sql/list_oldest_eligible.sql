-- When the oldest execution that waits in a lane was created: the head of every priority of every queue is looked at.
-- Takes namespace and lane.
WITH RECURSIVE waiting (queue_id, priority) AS (
    SELECT queue.queue_id, (SELECT max(best.priority) FROM execution AS best INDEXED BY execution_queued
                            WHERE best.queue_id = queue.queue_id)
    FROM queue WHERE queue.namespace = ?1 AND queue.lane = ?2
    UNION ALL
    SELECT waiting.queue_id, (SELECT max(next.priority) FROM execution AS next INDEXED BY execution_queued
                              WHERE next.queue_id = waiting.queue_id AND next.priority < waiting.priority)
    FROM waiting WHERE waiting.priority IS NOT NULL
)
SELECT min((SELECT min(head.created_at) FROM execution AS head INDEXED BY execution_queued
            WHERE head.queue_id = waiting.queue_id AND head.priority = waiting.priority))
FROM waiting WHERE waiting.priority IS NOT NULL
