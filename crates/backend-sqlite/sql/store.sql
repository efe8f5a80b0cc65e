-- name: create_migration_table
-- Which migrations this file has seen, and a checksum of their text.
CREATE TABLE IF NOT EXISTS migration (
    version    INTEGER PRIMARY KEY,
    checksum   TEXT NOT NULL,
    applied_at INTEGER NOT NULL
);

-- name: create_counts
-- Writes the partition counts of a new store; an existing one keeps its own.
UPDATE store SET partition_counts = :counts WHERE partition_counts IS NULL

-- name: read_store
-- The partition counts this store was created with, and the last time it knew.
SELECT partition_counts, clock FROM store

-- name: read_writer_state
-- The row and the time of the last feed line (the floor when all were trimmed), the last revision of a setting, and the greatest
-- uuid of all executions.
SELECT max(feed_floor, coalesce((SELECT max(row) FROM feed), 0)),
    coalesce((SELECT millis FROM feed ORDER BY row DESC LIMIT 1), 0), last_revision, (SELECT max(uuid) FROM execution)
FROM store

-- name: update_store
-- Notes the time of a batch and the last setting revision, so that neither goes back after a restart.
UPDATE store SET clock = max(clock, :now), last_revision = max(last_revision, :last_revision)
