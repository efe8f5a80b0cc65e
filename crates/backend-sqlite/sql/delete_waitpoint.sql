-- Deletes a waitpoint.
-- Takes uuid, partition, waitpoint_id.
DELETE FROM waitpoint WHERE uuid = ?1 AND partition = ?2 AND waitpoint_id = ?3
