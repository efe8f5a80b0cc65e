-- Whether a grant was released without a slot after a moment.
-- Takes quota policy id, grant id, the moment.
SELECT EXISTS (SELECT 1 FROM quota_tombstone WHERE quota_policy_id = ?1 AND grant_id = ?2 AND released_at > ?3)
