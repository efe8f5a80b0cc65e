-- Executions of partitions blocked by a cause, best score first: whatever is found brings the next one of its partition.
-- Takes partitions as JSON, cause, priority, created_at, uuid, partition to start after, a text just before the uuid, limit.
-- A plus takes the affinity from a column: SQLite finds pairs of columns by an index only for values without one.
WITH RECURSIVE best (row, priority, created_at, uuid, partition) AS (
    SELECT NULL, ?3, ?4, CASE WHEN value > ?6 THEN ?7 ELSE ?5 END, value FROM json_each(?1)
    UNION ALL
    SELECT next.row, next.priority, next.created_at, next.uuid, next.partition
    FROM best CROSS JOIN execution AS next ON next.row = coalesce(
        (SELECT row FROM execution INDEXED BY execution_blocked
         WHERE partition = best.partition AND cause = ?2 AND priority = best.priority
            AND (created_at, uuid) > (+best.created_at, +best.uuid)
         ORDER BY created_at, uuid LIMIT 1),
        (SELECT row FROM execution INDEXED BY execution_blocked
         WHERE partition = best.partition AND cause = ?2 AND priority < best.priority
         ORDER BY priority DESC, created_at, uuid LIMIT 1))
    ORDER BY 2 DESC, 3, 4, 5 LIMIT ?8
)
SELECT best.priority, best.created_at, best.uuid, best.partition, execution.version, execution.tag, execution.body
FROM best CROSS JOIN execution USING (row)
