-- A flow as it stands.
-- Takes flow_id, partition.
SELECT version, tag, body FROM flow WHERE flow_id = ?1 AND partition = ?2
