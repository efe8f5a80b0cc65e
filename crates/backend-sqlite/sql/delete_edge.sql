-- Deletes an edge.
-- Takes edge_id, partition.
DELETE FROM edge WHERE edge_id = ?1 AND partition = ?2
