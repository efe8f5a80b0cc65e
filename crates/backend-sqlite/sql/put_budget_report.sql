-- Remembers a usage report.
-- Takes budget id, key, until when.
INSERT INTO budget_report (budget_id, key, expires_at) VALUES (?1, ?2, ?3)
ON CONFLICT (budget_id, key) DO UPDATE SET expires_at = excluded.expires_at
