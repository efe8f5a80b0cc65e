-- Deletes a flow.
-- Takes flow_id, partition.
DELETE FROM flow WHERE flow_id = ?1 AND partition = ?2
