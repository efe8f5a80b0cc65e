-- Deletes slots of a deleted quota policy.
-- Takes quota policy id, how many at most.
DELETE FROM quota_slot WHERE quota_policy_id = ?1 AND grant_id IN (
    SELECT grant_id FROM quota_slot WHERE quota_policy_id = ?1 LIMIT ?2)
