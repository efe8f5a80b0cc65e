-- The number of the first place that was taken after a moment.
-- Takes quota policy id, the moment.
SELECT number FROM quota_place INDEXED BY quota_place_by_age
WHERE quota_policy_id = ?1 AND taken_at > ?2 ORDER BY taken_at, number LIMIT 1
