-- The last row of a partition's feed that was trimmed, when it was written, and when it was trimmed.
-- Takes the partition.
SELECT row, millis, trimmed_at FROM feed_trimmed WHERE partition = ?1
