-- Adds lines to the history on an execution.
-- Takes uuid, partition, lines, how many.
UPDATE execution SET history = history || ?3, history_lines = history_lines + ?4
WHERE uuid = ?1 AND partition = ?2
