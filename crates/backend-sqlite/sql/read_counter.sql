-- A counter.
-- Takes partition, owner, name.
SELECT value FROM counter WHERE partition = ?1 AND owner = ?2 AND name = ?3
