-- Adds lines to the history on a flow.
-- Takes flow_id, partition, lines, how many.
UPDATE flow SET history = history || ?3, history_lines = history_lines + ?4
WHERE flow_id = ?1 AND partition = ?2
