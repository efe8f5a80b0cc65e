-- Writes a step.
-- Takes uuid, partition, key, seq, version, tag, body.
INSERT OR REPLACE INTO step VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
