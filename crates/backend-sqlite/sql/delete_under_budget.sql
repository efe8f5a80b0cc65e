-- An execution is queued or leased under a budget no longer.
-- Takes budget, partition, place, priority, created_at, uuid.
DELETE FROM under_budget
WHERE budget_id = ?1 AND partition = ?2 AND place = ?3 AND uuid = ?6
    AND priority = CASE ?3 WHEN 'queued' THEN ?4 ELSE 0 END AND created_at = CASE ?3 WHEN 'queued' THEN ?5 ELSE 0 END
