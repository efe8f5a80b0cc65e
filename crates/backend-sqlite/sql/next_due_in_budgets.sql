-- When the next budget becomes due.
-- Takes now, partitions as a JSON list.
SELECT min(due_at) FROM budget WHERE due_at > ?1 AND partition IN (SELECT value FROM json_each(?2))
