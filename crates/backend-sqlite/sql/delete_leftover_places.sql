-- Deletes places of a deleted quota policy.
-- Takes quota policy id, how many at most.
DELETE FROM quota_place WHERE quota_policy_id = ?1 AND number IN (
    SELECT number FROM quota_place WHERE quota_policy_id = ?1 LIMIT ?2)
