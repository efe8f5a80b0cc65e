-- Quota policies that are due, longest overdue first.
-- Takes now, partitions as a JSON list, how many.
SELECT due_at, quota_policy_id, partition FROM quota_policy INDEXED BY quota_due
WHERE due_at <= ?1 AND partition IN (SELECT value FROM json_each(?2)) ORDER BY due_at LIMIT ?3
