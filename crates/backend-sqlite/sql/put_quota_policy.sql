-- Writes a quota policy, whether it was there or not.
-- Takes quota policy id, partition, namespace, generation, whether it is deleted, when it is due, slots, first and next place, body.
INSERT INTO quota_policy
    (quota_policy_id, partition, namespace, generation, is_deleted, due_at, slots, first_place, next_place, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (quota_policy_id) DO UPDATE SET
    generation = excluded.generation, is_deleted = excluded.is_deleted, due_at = excluded.due_at, slots = excluded.slots,
    first_place = excluded.first_place, next_place = excluded.next_place, body = excluded.body
