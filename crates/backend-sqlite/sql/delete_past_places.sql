-- Deletes places that no longer count.
-- Takes quota policy id, the first number that may count, how many at most.
DELETE FROM quota_place WHERE quota_policy_id = ?1 AND number IN (
    SELECT number FROM quota_place WHERE quota_policy_id = ?1 AND number < ?2 ORDER BY number LIMIT ?3)
