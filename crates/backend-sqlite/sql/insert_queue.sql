-- A queue that was never used before.
-- Takes namespace, lane, signature.
INSERT INTO queue (namespace, lane, signature) VALUES (?1, ?2, ?3)
