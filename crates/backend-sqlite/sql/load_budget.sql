-- A budget, deleted or not.
-- Takes budget id.
SELECT body FROM budget WHERE budget_id = ?1
