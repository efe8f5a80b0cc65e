-- The effect that was counted under this name, while it is remembered; null if it was none.
-- Takes budget id, key, now.
SELECT effect_id FROM budget_report WHERE budget_id = ?1 AND key = ?2 AND expires_at > ?3
