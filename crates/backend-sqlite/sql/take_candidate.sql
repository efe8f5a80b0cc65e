-- An execution to be handed out, with its row and its index entries.
-- Takes its row.
SELECT row, version, tag, state, priority, flow_id, queue_id, tags, history_first, history_lines, body
FROM execution WHERE row = ?1
