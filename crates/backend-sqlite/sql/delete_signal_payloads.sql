-- Deletes what came with the signals of an execution.
-- Takes uuid, partition.
DELETE FROM signal_payload WHERE uuid = ?1 AND partition = ?2
