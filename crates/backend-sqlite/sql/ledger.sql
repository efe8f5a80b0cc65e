-- name: load_account
-- The head of an account and how its log is numbered.
SELECT version, revision, body, stale_at, due_at, due_stamp, generation, marks, last, listed_in,
    oldest_place, first_place, next_place, gaps
FROM account WHERE account = :account

-- name: put_account
-- Writes the head of an account and how its log is numbered, whether it was there or not.
INSERT INTO account (account, partition, version, revision, body, stale_at, due_at, due_stamp, generation, marks, last,
    listed_in, oldest_place, first_place, next_place, gaps)
VALUES (:account, :partition, :version, :revision, :body, :stale_at, :due_at, :due_stamp, :generation, :marks, :last,
    :listed_in, :oldest_place, :first_place, :next_place, :gaps)
ON CONFLICT (account) DO UPDATE SET
    version = excluded.version, revision = excluded.revision, body = excluded.body, stale_at = excluded.stale_at,
    due_at = excluded.due_at, due_stamp = excluded.due_stamp, generation = excluded.generation, marks = excluded.marks,
    last = excluded.last, listed_in = excluded.listed_in, oldest_place = excluded.oldest_place,
    first_place = excluded.first_place, next_place = excluded.next_place, gaps = excluded.gaps

-- name: list_accounts
-- Accounts that the lists of a namespace show, by key, after one key and before another.
SELECT account FROM account INDEXED BY account_listed
WHERE listed_in = :namespace AND account > :after AND account < :before ORDER BY account

-- name: due_accounts
-- Accounts that are due, longest overdue first; partitions are a JSON list.
SELECT due_at, account, partition FROM account INDEXED BY account_due
WHERE due_at <= :now AND partition IN (SELECT value FROM json_each(:partitions)) ORDER BY due_at LIMIT :limit

-- name: next_due_account
-- When the next account becomes due; partitions are a JSON list.
SELECT min(due_at) FROM account WHERE due_at > :now AND partition IN (SELECT value FROM json_each(:partitions))

-- name: load_meter
-- A number of an account.
SELECT used, held FROM meter WHERE account = :account AND meter = :meter

-- name: load_meters
-- Numbers of an account by name, from one name on and before another.
SELECT used, held, meter FROM meter WHERE account = :account AND meter >= :from AND meter < :before

-- name: put_meter
-- Writes a number of an account, whether it was there or not.
INSERT INTO meter (account, meter, used, held) VALUES (:account, :meter, :used, :held)
ON CONFLICT (account, meter) DO UPDATE SET used = excluded.used, held = excluded.held

-- name: delete_meter
-- Takes a number away.
DELETE FROM meter WHERE account = :account AND meter = :meter

-- name: load_hold
-- What a grant has taken.
SELECT holder, taken_at, tier, body, grant_id FROM hold WHERE account = :account AND grant_id = :grant_id

-- name: load_holds
-- What grants took up to a moment, by grant.
SELECT holder, taken_at, tier, body, grant_id FROM hold
WHERE account = :account AND grant_id > :after AND taken_at <= :taken_by ORDER BY grant_id LIMIT :limit

-- name: put_hold
-- Writes what a grant has taken, whether it had taken something before or not.
INSERT INTO hold (account, grant_id, holder, taken_at, tier, body)
VALUES (:account, :grant_id, :holder, :taken_at, :tier, :body)
ON CONFLICT (account, grant_id) DO UPDATE SET
    holder = excluded.holder, taken_at = excluded.taken_at, tier = excluded.tier, body = excluded.body

-- name: delete_hold
-- A grant has taken nothing any more.
DELETE FROM hold WHERE account = :account AND grant_id = :grant_id

-- name: find_seen
-- What brought the thing that is still remembered under a name.
SELECT bearer FROM seen WHERE account = :account AND name = :name AND until > :now

-- name: put_seen
-- Remembers a name until a moment.
INSERT INTO seen (account, name, bearer, until) VALUES (:account, :name, :bearer, :until)
ON CONFLICT (account, name) DO UPDATE SET bearer = excluded.bearer, until = excluded.until

-- name: tidy_seen
-- Forgets names that need not be remembered any more.
DELETE FROM seen WHERE (account, name) IN (
    SELECT account, name FROM seen INDEXED BY seen_by_end WHERE until <= :now ORDER BY until LIMIT :limit)

-- name: find_named_place
-- The place of a name.
SELECT number, taken_at FROM place WHERE account = :account AND name = :name

-- name: find_younger_place
-- The number of the first place that was taken after a moment, given back or not.
SELECT number FROM place INDEXED BY place_by_age
WHERE account = :account AND taken_at > :moment ORDER BY taken_at, number LIMIT 1

-- name: load_place
-- When a place was taken.
SELECT taken_at FROM place WHERE account = :account AND number = :number

-- name: count_gaps
-- How many places between two numbers were given back, the second excluded.
SELECT count(*) FROM place INDEXED BY place_gap
WHERE account = :account AND name IS NULL AND number >= :from AND number < :before

-- name: insert_place
-- A name takes a place; one it had before, which no longer counts, makes way.
INSERT OR REPLACE INTO place (account, number, taken_at, name) VALUES (:account, :number, :taken_at, :name)

-- name: give_place_back
-- A place has no name any more.
UPDATE place SET name = NULL WHERE account = :account AND number = :number

-- name: delete_places
-- Deletes places up to a number, excluded.
DELETE FROM place WHERE account = :account AND number < :before

-- name: first_account_with_past
-- An account whose log has places that never count again: the oldest, and the first that may count.
SELECT account, oldest_place, first_place FROM account INDEXED BY account_with_past
WHERE oldest_place < first_place LIMIT 1

-- name: set_oldest_place
-- The log of an account has no place before this one.
UPDATE account SET oldest_place = :number WHERE account = :account
