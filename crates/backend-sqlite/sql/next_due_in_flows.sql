-- When the next record of flow partitions becomes due.
-- Takes now, partitions as a JSON list.
SELECT min(at) FROM (
    SELECT min(due_at) AS at FROM execution WHERE due_at > ?1 AND partition IN (SELECT value FROM json_each(?2))
    UNION ALL
    SELECT min(due_at) FROM waitpoint WHERE due_at > ?1 AND partition IN (SELECT value FROM json_each(?2))
    UNION ALL
    SELECT min(due_at) FROM flow WHERE due_at > ?1 AND partition IN (SELECT value FROM json_each(?2))
)
