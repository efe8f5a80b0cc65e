-- A deleted quota policy that has no slots and places any more.
-- Takes quota policy id.
DELETE FROM quota_leftover WHERE quota_policy_id = ?1
