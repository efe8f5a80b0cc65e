-- name: put_record
-- Writes a record, whether it was there or not. Its place, if it is a step, never changes.
INSERT INTO record (key, partition, version, tag, due_at, expires_at, seq, body)
VALUES (:key, :partition, :version, :tag, :due_at, :expires_at, :seq, :body)
ON CONFLICT (key, partition) DO UPDATE SET version = excluded.version, tag = excluded.tag, due_at = excluded.due_at,
    expires_at = excluded.expires_at, body = excluded.body

-- name: load_record
-- A record as it stands, if it is still remembered.
SELECT version, tag, body FROM record
WHERE key = :key AND partition = :partition AND (expires_at IS NULL OR expires_at > :now)

-- name: load_steps
-- Steps of an execution in the order in which they were recorded.
SELECT version, tag, body FROM record INDEXED BY record_step
WHERE substr(key, 1, 41) = :steps AND partition = :partition AND seq IS NOT NULL AND seq >= :from ORDER BY seq LIMIT :limit

-- name: delete_record
-- Deletes a record.
DELETE FROM record WHERE key = :key AND partition = :partition

-- name: due_records
-- Records that are due, longest overdue first; partitions are a JSON list.
SELECT due_at, key, partition FROM record INDEXED BY record_due
WHERE due_at <= :now AND partition IN (SELECT value FROM json_each(:partitions)) ORDER BY due_at LIMIT :limit

-- name: list_expired_records
-- Records that are remembered no longer, the oldest first.
SELECT key, partition FROM record INDEXED BY record_expiring WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit

-- name: list_keys
-- The keys of a partition between two, the second excluded.
SELECT key FROM record WHERE key >= :from AND key < :before AND partition = :partition ORDER BY key

-- name: list_audited_records
-- Records by key for an audit; the body of one that is not shown is null.
SELECT key, partition, CASE WHEN partition = :own AND (expires_at IS NULL OR expires_at > :now) THEN body END, due_at
FROM record WHERE (key, partition) > (:key, :partition) ORDER BY key, partition
