-- The number of the place an attempt took, and when.
-- Takes quota policy id, execution id, attempt index.
SELECT number, taken_at FROM quota_place WHERE quota_policy_id = ?1 AND execution_id = ?2 AND attempt_index = ?3
