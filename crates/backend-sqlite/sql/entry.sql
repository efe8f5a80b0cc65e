-- name: put_entry
-- A record stands in a list.
INSERT OR REPLACE INTO entry (name, sort, partition, key) VALUES (:name, :sort, :partition, :key)

-- name: delete_entry
-- A record stands in a list no longer.
DELETE FROM entry WHERE name = :name AND sort = :sort

-- name: has_entry
-- Whether a record stands in a list.
SELECT 1 FROM entry WHERE name = :name AND sort = :sort AND partition = :partition AND key = :key

-- name: list_entries
-- What stands in a list, from a place on.
SELECT sort, partition, key FROM entry WHERE name = :name AND sort >= :from ORDER BY sort

-- name: list_next_blocked
-- The next list of blocked executions of a partition after the one of this name, and the first place in it.
SELECT name, sort FROM entry INDEXED BY entry_blocked
WHERE partition = :partition AND substr(name, 1, 8) = 'blocked:' AND name > :name
ORDER BY name, sort LIMIT 1

-- name: list_blocked_length
-- How many blocked executions stand in a list of a partition, counted up to a number.
SELECT count(*) FROM (
    SELECT 1 FROM entry INDEXED BY entry_blocked
    WHERE partition = :partition AND substr(name, 1, 8) = 'blocked:' AND name = :name LIMIT :count)
