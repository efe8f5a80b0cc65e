-- The history on an execution.
-- Takes uuid, partition.
SELECT history, history_first, history_lines FROM execution WHERE uuid = ?1 AND partition = ?2
