-- An edge as it stands.
-- Takes edge_id, partition.
SELECT version, tag, body FROM edge WHERE edge_id = ?1 AND partition = ?2
