-- The history on a flow, wherever it lives.
-- Takes flow_id.
SELECT history, history_first, history_lines FROM flow WHERE flow_id = ?1
