-- Leased executions of a partition under a budget, by id.
-- Takes budget, partition, the uuid to start after, limit.
SELECT leased.uuid, execution.version, execution.tag, execution.body
FROM (
    SELECT uuid, partition FROM under_budget
    WHERE budget_id = ?1 AND partition = ?2 AND place = 'leased' AND uuid > ?3
    ORDER BY uuid LIMIT ?4
) AS leased CROSS JOIN execution INDEXED BY execution_by_id USING (uuid, partition)
ORDER BY leased.uuid
