-- Deletes settings whose time is over.
-- Takes now, how many at most.
DELETE FROM setting WHERE key IN (
    SELECT key FROM setting INDEXED BY setting_expiring WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)
