-- Takes a place; one the same attempt took before no longer counts and makes way.
-- Takes quota policy id, number, now, execution id, attempt index.
INSERT OR REPLACE INTO quota_place (quota_policy_id, number, taken_at, execution_id, attempt_index)
VALUES (?1, ?2, ?3, ?4, ?5)
