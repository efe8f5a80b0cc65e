-- Budgets of a namespace that were not deleted, by id.
-- Takes namespace, the id to go on after, how many.
SELECT body FROM budget INDEXED BY budget_listed
WHERE namespace = ?1 AND is_deleted = 0 AND budget_id > ?2 ORDER BY budget_id LIMIT ?3
