-- Quota policies of a namespace that were not deleted, by id.
-- Takes namespace, the id to go on after, how many.
SELECT body, slots, first_place, next_place, due_at FROM quota_policy INDEXED BY quota_listed
WHERE namespace = ?1 AND is_deleted = 0 AND quota_policy_id > ?2 ORDER BY quota_policy_id LIMIT ?3
