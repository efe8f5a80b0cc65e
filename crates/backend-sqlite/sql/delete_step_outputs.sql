-- Deletes what the steps of an execution left.
-- Takes uuid, partition.
DELETE FROM step_output WHERE uuid = ?1 AND partition = ?2
