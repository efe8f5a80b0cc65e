-- Writes an ended attempt.
-- Takes uuid, partition, attempt_index, version, tag, body.
INSERT OR REPLACE INTO attempt VALUES (?1, ?2, ?3, ?4, ?5, ?6)
