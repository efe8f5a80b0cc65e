-- An execution is queued under a budget by score, or leased by id alone.
-- Takes budget, partition, place, priority, created_at, uuid.
INSERT OR IGNORE INTO under_budget
VALUES (?1, ?2, ?3, CASE ?3 WHEN 'queued' THEN ?4 ELSE 0 END, CASE ?3 WHEN 'queued' THEN ?5 ELSE 0 END, ?6)
