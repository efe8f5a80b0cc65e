-- Slots taken up to a moment, by grant.
-- Takes quota policy id, the grant to go on after, the moment, how many.
SELECT grant_id, execution_id, taken_at FROM quota_slot
WHERE quota_policy_id = ?1 AND grant_id > ?2 AND taken_at <= ?3 ORDER BY grant_id LIMIT ?4
