-- Notes the last row of each partition among those about to be deleted.
-- Takes the last row to be deleted.
INSERT INTO feed_trimmed
SELECT partition, max(row), max(millis), (SELECT clock FROM store) FROM feed WHERE row <= ?1 GROUP BY partition
ON CONFLICT (partition) DO UPDATE SET row = excluded.row, millis = excluded.millis, trimmed_at = excluded.trimmed_at
