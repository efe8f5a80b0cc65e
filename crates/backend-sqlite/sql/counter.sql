-- name: move_counter
-- Moves a counter and answers its new value.
INSERT INTO counter (partition, owner, name, value) VALUES (:partition, :owner, :name, :by)
ON CONFLICT (partition, owner, name) DO UPDATE SET value = value + excluded.value
RETURNING value

-- name: read_counter
-- A counter.
SELECT value FROM counter WHERE partition = :partition AND owner = :owner AND name = :name

-- name: delete_counters
-- Forgets the counters of an owner.
DELETE FROM counter WHERE partition = :partition AND owner = :owner
