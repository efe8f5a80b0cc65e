-- An execution's row, version and index entries.
-- Takes uuid, partition.
SELECT row, version, tag, state, priority, flow_id, queue_id, tags, history_first, history_lines
FROM execution WHERE uuid = ?1 AND partition = ?2
