-- Whether an execution is found under a budget.
-- Takes budget, partition, place, priority, created_at, uuid.
SELECT 1 FROM under_budget
WHERE budget_id = ?1 AND partition = ?2 AND place = ?3 AND priority = ?4 AND created_at = ?5 AND uuid = ?6
