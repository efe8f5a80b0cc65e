-- Eligible executions of a partition under a budget, best score first: the rest of one priority, then all lower ones.
-- Takes budget, partition, then priority, created_at, uuid to start after.
SELECT place.priority, place.created_at, place.uuid, execution.version, execution.tag, execution.body
FROM under_budget AS place CROSS JOIN execution INDEXED BY execution_by_id USING (uuid, partition)
WHERE place.budget_id = ?1 AND place.partition = ?2 AND place.place = 'queued' AND place.priority = ?3
    AND (place.created_at, place.uuid) > (?4, ?5)
UNION ALL
SELECT place.priority, place.created_at, place.uuid, execution.version, execution.tag, execution.body
FROM under_budget AS place CROSS JOIN execution INDEXED BY execution_by_id USING (uuid, partition)
WHERE place.budget_id = ?1 AND place.partition = ?2 AND place.place = 'queued' AND place.priority < ?3
ORDER BY 1 DESC, 2, 3
