-- Replaces a flow.
-- Takes flow_id, partition, version, tag, due_at, body.
UPDATE flow SET version = ?3, tag = ?4, due_at = ?5, body = ?6 WHERE flow_id = ?1 AND partition = ?2
