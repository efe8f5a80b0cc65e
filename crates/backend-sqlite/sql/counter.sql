-- name: put_counters
-- Writes the counters of an owner, whether there were any or not.
INSERT INTO counter (partition, owner, counts) VALUES (:partition, :owner, :counts)
ON CONFLICT (partition, owner) DO UPDATE SET counts = excluded.counts

-- name: load_counters
-- The counters of an owner.
SELECT counts FROM counter WHERE partition = :partition AND owner = :owner

-- name: delete_counters
-- Forgets the counters of an owner.
DELETE FROM counter WHERE partition = :partition AND owner = :owner
