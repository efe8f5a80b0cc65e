-- An execution is queued or leased under a budget.
-- Takes budget, partition, place, priority, created_at, uuid.
INSERT OR IGNORE INTO under_budget VALUES (?1, ?2, ?3, ?4, ?5, ?6)
