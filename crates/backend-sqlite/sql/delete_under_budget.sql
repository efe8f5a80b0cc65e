-- An execution is queued or leased under a budget no longer.
-- Takes budget, partition, place, priority, created_at, uuid.
DELETE FROM under_budget
WHERE budget_id = ?1 AND partition = ?2 AND place = ?3 AND priority = ?4 AND created_at = ?5 AND uuid = ?6
