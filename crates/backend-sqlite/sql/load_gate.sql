-- The gate of a flow.
-- Takes flow_id, partition.
SELECT version, tag, state FROM gate WHERE flow_id = ?1 AND partition = ?2
