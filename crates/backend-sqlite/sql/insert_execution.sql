-- A new execution.
-- Takes its columns in order, the last one as a number of bytes.
INSERT INTO execution (uuid, partition, version, tag, namespace, lane, kind, state, blocking_reason, blocking_detail,
    priority, created_at, updated_at, flow_id, is_open, worker, lease_epoch, due_at, queue_id, cause, tags, history,
    history_lines, body, room)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, zeroblob(?25))
