-- Moves a counter and answers its new value.
-- Takes partition, owner, name, by how much.
INSERT INTO counter VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (partition, owner, name) DO UPDATE SET value = value + excluded.value
RETURNING value
