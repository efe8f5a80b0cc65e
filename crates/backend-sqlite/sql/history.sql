-- name: append_execution_history
-- Adds lines to the history on an execution.
UPDATE execution SET history = history || :lines, history_lines = history_lines + :count
WHERE uuid = :uuid AND partition = :partition

-- name: read_execution_history
-- The history on an execution, and what its lines leave out.
SELECT history_first, history, namespace, lane, kind FROM execution
WHERE uuid = :uuid AND partition = :partition

-- name: clear_execution_history
-- Takes the history off an execution, once it is kept elsewhere.
UPDATE execution SET history = '', history_first = history_first + history_lines, history_lines = 0
WHERE uuid = :uuid AND partition = :partition

-- name: move_execution_history
-- A chunk of the history on an execution, which is taken off it next.
INSERT INTO history (key, partition, first, count, lines)
SELECT :key, partition, history_first, history_lines, history FROM execution WHERE uuid = :uuid AND partition = :partition

-- name: insert_history
-- A chunk of the history of a record, if that is there.
INSERT INTO history (key, partition, first, count, lines) SELECT key, partition, :first, :count, :lines FROM record
WHERE key = :key AND partition = :partition

-- name: last_history
-- The last chunk of a history: the number of its first line, and how many it has.
SELECT first, count FROM history WHERE key = :key AND partition = :partition ORDER BY first DESC LIMIT 1

-- name: append_history
-- Adds lines to a chunk of history.
UPDATE history SET lines = lines || :lines, count = count + :count
WHERE key = :key AND partition = :partition AND first = :first

-- name: trim_history
-- Forgets chunks that hold only lines before the oldest that is shown.
DELETE FROM history WHERE key = :key AND partition = :partition AND first < (
    SELECT max(first) FROM history WHERE key = :key AND partition = :partition AND first <= :oldest_shown)

-- name: delete_history
-- Deletes the chunks of a history.
DELETE FROM history WHERE key = :key AND partition = :partition

-- name: list_history
-- Chunks of a history, from the one that holds a line on.
SELECT first, lines FROM history WHERE key = :key AND partition = :partition AND first >= coalesce((
    SELECT max(first) FROM history WHERE key = :key AND partition = :partition AND first <= :line), 0)
ORDER BY first
