-- Takes a slot.
-- Takes quota policy id, grant id, execution id, now.
INSERT INTO quota_slot (quota_policy_id, grant_id, execution_id, taken_at) VALUES (?1, ?2, ?3, ?4)
