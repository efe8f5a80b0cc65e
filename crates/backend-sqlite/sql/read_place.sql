-- When a place was taken.
-- Takes quota policy id, its number.
SELECT taken_at FROM quota_place WHERE quota_policy_id = ?1 AND number = ?2
