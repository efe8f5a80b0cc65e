-- What a step left.
-- Takes uuid, partition, seq.
SELECT content_type, bytes FROM step_output WHERE uuid = ?1 AND partition = ?2 AND seq = ?3
