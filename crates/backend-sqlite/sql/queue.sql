-- name: insert_queue
-- A queue that was never used before.
INSERT INTO queue (namespace, lane, signature) VALUES (:namespace, :lane, :signature)

-- name: list_queues
-- Every queue that was ever used.
SELECT queue_id, namespace, lane, signature FROM queue

-- name: count_queued
-- How many executions wait in each queue of each partition. Read once, when the store is opened.
SELECT queue_id, partition, count(*) FROM execution INDEXED BY execution_queued
WHERE queue_id IS NOT NULL
GROUP BY queue_id, partition

-- name: insert_lane_depth
-- The first executions of a lane in a state.
INSERT INTO lane_depth (namespace, lane, state, count) VALUES (:namespace, :lane, :state, :by)

-- name: move_lane_depth
-- Moves how many executions of a lane are in a state.
UPDATE lane_depth SET count = count + :by WHERE namespace = :namespace AND lane = :lane AND state = :state

-- name: list_lanes
-- Lanes of a namespace with how many executions are in which state, by name.
SELECT lane, json_group_object(state, count) FROM lane_depth
WHERE namespace = :namespace AND lane > :after AND count > 0
GROUP BY lane ORDER BY lane

-- name: list_oldest_eligible
-- When the oldest execution that waits in a lane was created: the head of every priority of every queue is looked at.
WITH RECURSIVE waiting (queue_id, priority) AS (
    SELECT queue.queue_id, (SELECT max(best.priority) FROM execution AS best INDEXED BY execution_queued
                            WHERE best.queue_id = queue.queue_id)
    FROM queue WHERE queue.namespace = :namespace AND queue.lane = :lane
    UNION ALL
    SELECT waiting.queue_id, (SELECT max(next.priority) FROM execution AS next INDEXED BY execution_queued
                              WHERE next.queue_id = waiting.queue_id AND next.priority < waiting.priority)
    FROM waiting WHERE waiting.priority IS NOT NULL
)
SELECT min((SELECT min(head.created_at) FROM execution AS head INDEXED BY execution_queued
            WHERE head.queue_id = waiting.queue_id AND head.priority = waiting.priority))
FROM waiting WHERE waiting.priority IS NOT NULL
