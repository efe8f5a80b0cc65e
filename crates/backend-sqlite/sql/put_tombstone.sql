-- Notes that a grant was released without a slot.
-- Takes quota policy id, grant id, now.
INSERT INTO quota_tombstone (quota_policy_id, grant_id, released_at) VALUES (?1, ?2, ?3)
ON CONFLICT (quota_policy_id, grant_id) DO UPDATE SET released_at = excluded.released_at
