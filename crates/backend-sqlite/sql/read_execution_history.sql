-- The history on an execution, and what its lines leave out.
-- Takes uuid, partition.
SELECT history, history_first, history_lines, namespace, lane, kind FROM execution WHERE uuid = ?1 AND partition = ?2
