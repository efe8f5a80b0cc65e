-- Asks for a record to be looked at; a later nudge has another stamp, and the first one's age.
-- Takes partition, key, stamp, at.
INSERT INTO nudge VALUES (?1, ?2, ?3, ?4) ON CONFLICT (partition, key) DO UPDATE SET stamp = excluded.stamp
