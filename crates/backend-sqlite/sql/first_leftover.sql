-- A deleted quota policy whose slots and places are to be cleaned up.
-- Takes nothing.
SELECT quota_policy_id FROM quota_leftover LIMIT 1
