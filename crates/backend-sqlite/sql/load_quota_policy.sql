-- A quota policy, deleted or not, with how much of it is taken.
-- Takes quota policy id.
SELECT body, slots, first_place, next_place, due_at FROM quota_policy WHERE quota_policy_id = ?1
