-- Gives a slot back.
-- Takes quota policy id, grant id.
DELETE FROM quota_slot WHERE quota_policy_id = ?1 AND grant_id = ?2
