-- Eligible executions of partitions under a budget, best score first: whatever is found brings the next one of its partition.
-- Takes partitions as JSON, budget, priority, created_at, uuid, partition to start after, a text just before the uuid, limit.
-- A plus takes the affinity from a column: SQLite finds pairs of columns by an index only for values without one.
WITH RECURSIVE best (is_found, priority, created_at, uuid, partition) AS (
    SELECT 0, ?3, ?4, CASE WHEN value > ?6 THEN ?7 ELSE ?5 END, value FROM json_each(?1)
    UNION ALL
    SELECT 1, next.priority, next.created_at, next.uuid, next.partition
    FROM best CROSS JOIN under_budget AS next
        ON next.budget_id = ?2 AND next.partition = best.partition AND next.place = 'queued'
        AND (next.priority, next.created_at, next.uuid) = (
            SELECT priority, created_at, uuid FROM under_budget
            WHERE budget_id = ?2 AND partition = best.partition AND place = 'queued' AND priority = +best.priority
                AND (created_at, uuid) > (+best.created_at, +best.uuid)
            UNION ALL
            SELECT priority, created_at, uuid FROM under_budget
            WHERE budget_id = ?2 AND partition = best.partition AND place = 'queued' AND priority < best.priority
            ORDER BY 1 DESC, 2, 3 LIMIT 1)
    ORDER BY 2 DESC, 3, 4, 5 LIMIT ?8
)
SELECT best.priority, best.created_at, best.uuid, best.partition, execution.version, execution.tag, execution.body
FROM best CROSS JOIN execution INDEXED BY execution_by_id USING (uuid, partition)
WHERE best.is_found
