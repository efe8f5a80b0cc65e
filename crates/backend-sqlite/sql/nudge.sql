-- name: put_nudge
-- Asks for a record to be looked at; a later nudge has another stamp, and the first one's age.
INSERT INTO nudge (partition, key, stamp, at) VALUES (:partition, :key, :stamp, :at)
ON CONFLICT (partition, key) DO UPDATE SET stamp = excluded.stamp

-- name: read_nudge
-- The stamp of a record's nudge.
SELECT stamp FROM nudge WHERE partition = :partition AND key = :key

-- name: clear_nudge
-- Removes a nudge that was looked at, unless a later one came.
DELETE FROM nudge WHERE partition = :partition AND key = :key AND stamp = :stamp

-- name: delete_nudge
-- Removes the nudge of a record that is gone.
DELETE FROM nudge WHERE partition = :partition AND key = :key

-- name: due_nudges
-- Records that were nudged, longest ago first; partitions are a JSON list.
SELECT at, key, partition FROM nudge INDEXED BY nudge_by_age
WHERE at <= :now AND partition IN (SELECT value FROM json_each(:partitions)) ORDER BY at LIMIT :limit
