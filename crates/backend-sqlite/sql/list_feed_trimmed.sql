-- The last row of a partition's feed that was trimmed.
-- Takes the partition.
SELECT row FROM feed_trimmed WHERE partition = ?1
