-- Forgets the counters of an owner.
-- Takes partition, owner.
DELETE FROM counter WHERE partition = ?1 AND owner = ?2
