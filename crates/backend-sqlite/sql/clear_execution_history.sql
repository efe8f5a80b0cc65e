-- Takes the history off an execution, once it is kept elsewhere.
-- Takes uuid, partition.
UPDATE execution SET history = '', history_first = history_first + history_lines, history_lines = 0
WHERE uuid = ?1 AND partition = ?2
