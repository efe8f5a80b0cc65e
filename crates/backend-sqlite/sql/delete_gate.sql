-- Deletes the gate of a flow.
-- Takes flow_id, partition.
DELETE FROM gate WHERE flow_id = ?1 AND partition = ?2
