-- The stamp of a record's nudge.
-- Takes partition, key.
SELECT stamp FROM nudge WHERE partition = ?1 AND key = ?2
