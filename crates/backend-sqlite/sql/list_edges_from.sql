-- Edges out of an execution, by id.
-- Takes the upstream, and the edge to start after.
SELECT edge_id, version, tag, body FROM edge INDEXED BY edge_from
WHERE upstream = ?1 AND edge_id > ?2
ORDER BY edge_id
