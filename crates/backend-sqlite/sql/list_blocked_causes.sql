-- The causes partitions hold blocked work for, each found by a jump past the one before.
-- Takes partitions as JSON, partition and cause to start after, limit.
WITH RECURSIVE held (partition, cause) AS (
    SELECT value, (SELECT min(cause) FROM execution INDEXED BY execution_blocked
                   WHERE partition = value AND cause > CASE value WHEN ?2 THEN ?3 ELSE '' END)
    FROM json_each(?1) WHERE value >= ?2
    UNION ALL
    SELECT held.partition, (SELECT min(next.cause) FROM execution AS next INDEXED BY execution_blocked
                            WHERE next.partition = held.partition AND next.cause > held.cause)
    FROM held WHERE held.cause IS NOT NULL
    ORDER BY 1, 2 LIMIT ?4
)
SELECT partition, cause FROM held WHERE cause IS NOT NULL
