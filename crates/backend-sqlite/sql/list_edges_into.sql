-- Edges into an execution, by id.
-- Takes the downstream, and the edge to start after.
SELECT edge_id, version, tag, body FROM edge INDEXED BY edge_into
WHERE downstream = ?1 AND edge_id > ?2
ORDER BY edge_id
