-- Takes the history off a flow, once it is kept elsewhere.
-- Takes flow_id, partition.
UPDATE flow SET history = '', history_first = history_first + history_lines, history_lines = 0
WHERE flow_id = ?1 AND partition = ?2
