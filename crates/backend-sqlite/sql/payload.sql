-- name: put_input
-- What an execution works on.
INSERT INTO input (execution_row, content_type, bytes) VALUES (:row, :content_type, :bytes)
ON CONFLICT (execution_row) DO UPDATE SET content_type = excluded.content_type, bytes = excluded.bytes

-- name: load_input
-- What an execution works on.
SELECT content_type, bytes FROM input
WHERE execution_row = (SELECT row FROM execution WHERE uuid = :uuid AND partition = :partition)

-- name: take_input
-- What an execution works on. Not joined: SQLite would compile a join anew for every value it is bound to.
SELECT content_type, bytes FROM input WHERE execution_row = :row

-- name: delete_input
-- Deletes an input.
DELETE FROM input WHERE execution_row = :row

-- name: put_result
-- What came of an execution.
INSERT INTO result (execution_row, content_type, bytes) VALUES (:row, :content_type, :bytes)
ON CONFLICT (execution_row) DO UPDATE SET content_type = excluded.content_type, bytes = excluded.bytes

-- name: load_result
-- What came of an execution.
SELECT content_type, bytes FROM result
WHERE execution_row = (SELECT row FROM execution WHERE uuid = :uuid AND partition = :partition)

-- name: delete_result
-- Deletes a result.
DELETE FROM result WHERE execution_row = :row

-- name: put_payload
-- What came with a signal or what a step left, if its execution is there.
INSERT OR REPLACE INTO payload SELECT :uuid, :partition, :name, :content_type, :bytes
WHERE EXISTS (SELECT 1 FROM execution WHERE uuid = :uuid AND partition = :partition)

-- name: load_payload
-- What came with a signal, or what a step left.
SELECT content_type, bytes FROM payload WHERE uuid = :uuid AND partition = :partition AND name = :name

-- name: delete_payloads
-- Deletes what came with the signals of an execution, and what its steps left.
DELETE FROM payload WHERE uuid = :uuid AND partition = :partition
