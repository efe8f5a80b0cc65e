-- Whether a usage report was counted before and is still remembered.
-- Takes budget id, key, now.
SELECT EXISTS (SELECT 1 FROM budget_report WHERE budget_id = ?1 AND key = ?2 AND expires_at > ?3)
