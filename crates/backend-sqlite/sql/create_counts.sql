-- Writes the partition counts of a new store; an existing one keeps its own.
-- Takes the counts as JSON.
UPDATE store SET partition_counts = ?1 WHERE partition_counts IS NULL
