-- Writes a waitpoint.
-- Takes uuid, partition, waitpoint_id, version, tag, due_at, body.
INSERT OR REPLACE INTO waitpoint VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
