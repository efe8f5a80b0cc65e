-- Waitpoints that are due, longest overdue first.
-- Takes now, partitions as a JSON list, how many.
SELECT due_at, uuid, partition, waitpoint_id FROM waitpoint INDEXED BY waitpoint_due
WHERE due_at <= ?1 AND partition IN (SELECT value FROM json_each(?2)) ORDER BY due_at LIMIT ?3
