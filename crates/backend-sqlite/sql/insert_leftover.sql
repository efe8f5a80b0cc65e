-- Notes that the slots and places of a deleted quota policy are to be cleaned up.
-- Takes quota policy id.
INSERT INTO quota_leftover (quota_policy_id) VALUES (?1) ON CONFLICT DO NOTHING
