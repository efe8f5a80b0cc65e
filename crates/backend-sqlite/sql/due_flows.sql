-- Flows that are due, longest overdue first.
-- Takes now, partitions as a JSON list, how many.
SELECT due_at, flow_id, partition FROM flow INDEXED BY flow_due
WHERE due_at <= ?1 AND partition IN (SELECT value FROM json_each(?2)) ORDER BY due_at LIMIT ?3
