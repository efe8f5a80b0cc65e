-- When the next quota policy becomes due.
-- Takes now, partitions as a JSON list.
SELECT min(due_at) FROM quota_policy WHERE due_at > ?1 AND partition IN (SELECT value FROM json_each(?2))
