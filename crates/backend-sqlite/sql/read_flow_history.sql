-- The history on a flow.
-- Takes flow_id, partition.
SELECT history, history_first, history_lines FROM flow WHERE flow_id = ?1 AND partition = ?2
