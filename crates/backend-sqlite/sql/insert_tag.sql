-- Lists an execution under a tag.
-- Takes key, value, created_at, uuid, partition.
INSERT OR IGNORE INTO execution_tag VALUES (?1, ?2, ?3, ?4, ?5)
