-- Writes a budget, whether it was there or not.
-- Takes budget id, partition, namespace, generation, whether it is deleted, when it is due, body.
INSERT INTO budget (budget_id, partition, namespace, generation, is_deleted, due_at, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (budget_id) DO UPDATE SET
    generation = excluded.generation, is_deleted = excluded.is_deleted, due_at = excluded.due_at, body = excluded.body
