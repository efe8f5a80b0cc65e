-- Remembers a usage report.
-- Takes budget id, key, until when, effect id.
INSERT INTO budget_report (budget_id, key, expires_at, effect_id) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (budget_id, key) DO UPDATE SET expires_at = excluded.expires_at, effect_id = excluded.effect_id
