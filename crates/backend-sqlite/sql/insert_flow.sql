-- A new flow.
-- Takes its columns in order.
INSERT INTO flow (flow_id, partition, version, tag, namespace, kind, created_at, due_at, history, history_lines, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, '', 0, ?9)
