-- The causes a partition holds blocked work for, each found by a jump past the one before.
-- Takes partition, and the cause to start after.
WITH RECURSIVE held (cause) AS (
    SELECT min(cause) FROM execution INDEXED BY execution_blocked WHERE partition = ?1 AND cause > ?2
    UNION ALL
    SELECT (SELECT min(next.cause) FROM execution AS next INDEXED BY execution_blocked
            WHERE next.partition = ?1 AND next.cause > held.cause)
    FROM held WHERE held.cause IS NOT NULL
)
SELECT cause FROM held WHERE cause IS NOT NULL
