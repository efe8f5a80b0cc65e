-- Removes the nudge of a record that is gone.
-- Takes partition, key.
DELETE FROM nudge WHERE partition = ?1 AND key = ?2
