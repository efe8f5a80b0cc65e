-- Removes a nudge that was looked at, unless a later one came.
-- Takes partition, key, stamp.
DELETE FROM nudge WHERE partition = ?1 AND key = ?2 AND stamp = ?3
