-- Leased executions of partitions under a budget, by id: whatever is found brings the next one of its partition.
-- Takes partitions as JSON, budget, the uuid and partition to start after, limit.
WITH RECURSIVE leased (uuid, partition) AS (
    SELECT (SELECT min(uuid) FROM under_budget
            WHERE budget_id = ?2 AND partition = value AND place = 'leased' AND priority = 0 AND created_at = 0
                AND (uuid, value) > (?3, ?4)), value
    FROM json_each(?1)
    UNION ALL
    SELECT (SELECT min(next.uuid) FROM under_budget AS next
            WHERE next.budget_id = ?2 AND next.partition = leased.partition AND next.place = 'leased'
                AND next.priority = 0 AND next.created_at = 0 AND next.uuid > leased.uuid), leased.partition
    FROM leased WHERE leased.uuid IS NOT NULL
    ORDER BY 1, 2 LIMIT ?5
)
SELECT leased.uuid, leased.partition, execution.version, execution.tag, execution.body
FROM leased CROSS JOIN execution INDEXED BY execution_by_id USING (uuid, partition)
