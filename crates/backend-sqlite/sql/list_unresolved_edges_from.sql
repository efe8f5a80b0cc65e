-- Edges out of an execution whose upstream has not been taken into account yet, by id.
-- Takes the upstream, and the edge to start after.
SELECT edge_id, version, tag, body FROM edge INDEXED BY edge_unresolved
WHERE upstream = ?1 AND state = 'unresolved' AND edge_id > ?2
ORDER BY edge_id
