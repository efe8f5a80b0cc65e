-- The history on a flow, wherever it lives, and what its lines leave out.
-- Takes flow_id.
SELECT history, history_first, history_lines, namespace, NULL, kind FROM flow WHERE flow_id = ?1
