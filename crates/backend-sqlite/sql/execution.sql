-- name: update_execution
-- Replaces an execution. Columns that never change are not named, so that their indexes are left alone. Lines are added to its
-- history; the room is what body and history together leave of it.
UPDATE execution SET version = :version, tag = :tag, state = :state, blocking_reason = :blocking_reason,
    blocking_detail = :blocking_detail, priority = :priority, updated_at = :updated_at, flow_id = :flow_id,
    is_open = :is_open, worker = :worker, lease_epoch = :lease_epoch, due_at = :due_at, queue_id = :queue_id,
    history = history || :lines, history_lines = history_lines + :line_count, body = :body,
    room = zeroblob(:room_bytes - octet_length(history))
WHERE row = :row

-- name: insert_execution
-- A new execution: what changes, in the order in which it is replaced, then what never does.
INSERT INTO execution (version, tag, state, blocking_reason, blocking_detail, priority, updated_at, flow_id, is_open, worker,
    lease_epoch, due_at, queue_id, history, history_lines, body, room, uuid, partition, namespace, lane, kind, created_at)
VALUES (:version, :tag, :state, :blocking_reason, :blocking_detail, :priority, :updated_at, :flow_id, :is_open, :worker,
    :lease_epoch, :due_at, :queue_id, :lines, :line_count, :body, zeroblob(:room_bytes), :uuid, :partition, :namespace, :lane,
    :kind, :created_at)

-- name: load_execution
-- An execution as it stands.
SELECT version, tag, body FROM execution WHERE uuid = :uuid AND partition = :partition

-- name: find_execution
-- What is known of an execution before it is replaced.
SELECT row, version, tag, state, queue_id, history_first, history_lines
FROM execution WHERE uuid = :uuid AND partition = :partition

-- name: take_candidate
-- The same of an execution to be handed out, and itself.
SELECT row, version, tag, state, queue_id, history_first, history_lines, body FROM execution WHERE row = :row

-- name: delete_execution
-- Deletes an execution's row, and answers its lane.
DELETE FROM execution WHERE row = :row RETURNING namespace, lane

-- name: best_of_queue
-- The executions of a queue, best first; the caller stops when it has enough. A bound limit would be compiled anew each time.
SELECT priority, created_at, uuid, partition, row FROM execution INDEXED BY execution_queued
WHERE queue_id = :queue_id ORDER BY priority DESC, created_at, uuid, partition

-- name: set_aside
-- Takes an execution that cannot be read out of its queue, and makes it due: whoever looks at it finds out what is wrong.
UPDATE execution SET queue_id = NULL, due_at = :now WHERE row = :row

-- name: due_executions
-- Executions that are due, longest overdue first; partitions are a JSON list.
SELECT due_at, 'execution:' || uuid, partition FROM execution INDEXED BY execution_due
WHERE due_at <= :now AND partition IN (SELECT value FROM json_each(:partitions)) ORDER BY due_at LIMIT :limit

-- name: next_due_record
-- When the next record becomes due; partitions are a JSON list.
SELECT min(at) FROM (
    SELECT min(due_at) AS at FROM execution WHERE due_at > :now AND partition IN (SELECT value FROM json_each(:partitions))
    UNION ALL
    SELECT min(due_at) FROM record WHERE due_at > :now AND partition IN (SELECT value FROM json_each(:partitions))
)

-- name: list_newest
-- Executions of all namespaces, newest first, from one on.
SELECT created_at, uuid, partition FROM execution INDEXED BY execution_newest
WHERE (created_at, uuid, partition) <= (:created_at, :uuid, :partition)
ORDER BY created_at DESC, uuid DESC, partition DESC

-- name: list_newest_of_namespace
-- Executions of a namespace, newest first, from one on.
SELECT created_at, uuid, partition FROM execution INDEXED BY execution_by_age
WHERE namespace = :namespace AND (created_at, uuid, partition) <= (:created_at, :uuid, :partition)
ORDER BY created_at DESC, uuid DESC, partition DESC

-- name: list_queued
-- Executions of a queue, best first, from one on: those of its priority, then those of lower ones.
WITH asked (queue_id) AS (
    SELECT queue_id FROM queue WHERE namespace = :namespace AND lane = :lane AND signature = :signature
)
SELECT priority, created_at, uuid, partition FROM execution INDEXED BY execution_queued
WHERE queue_id = (SELECT queue_id FROM asked) AND priority = :priority
    AND (created_at, uuid, partition) >= (:created_at, :uuid, :partition)
UNION ALL
SELECT priority, created_at, uuid, partition FROM execution INDEXED BY execution_queued
WHERE queue_id = (SELECT queue_id FROM asked) AND priority < :priority
ORDER BY 1 DESC, 2, 3, 4

-- name: list_queue_head
-- The best of a queue in one partition.
SELECT priority, created_at, uuid, partition FROM execution INDEXED BY execution_queued
WHERE queue_id = :queue_id AND partition = :partition
ORDER BY priority DESC, created_at, uuid LIMIT 1

-- name: list_audited_executions
-- Executions by id for an audit, with their queues; the body of one in another partition is null.
SELECT 'execution:' || uuid, partition, CASE WHEN partition = :own THEN body END, due_at, priority, created_at, uuid, partition,
    queue.namespace, queue.lane, queue.signature
FROM execution INDEXED BY execution_by_id LEFT JOIN queue USING (queue_id)
WHERE (uuid, partition) > (:uuid, :partition)
ORDER BY uuid, partition
