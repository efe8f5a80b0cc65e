-- Deletes usage reports that need not be remembered any more.
-- Takes now, how many at most.
DELETE FROM budget_report WHERE (budget_id, key) IN (
    SELECT budget_id, key FROM budget_report INDEXED BY budget_report_expiring
    WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)
