-- Records that were nudged, longest ago first.
-- Takes now, partitions as a JSON list, how many.
SELECT at, key, partition FROM nudge INDEXED BY nudge_by_age
WHERE at <= ?1 AND partition IN (SELECT value FROM json_each(?2)) ORDER BY at LIMIT ?3
