-- Forgets chunks that end before a line.
-- Takes subject, and the first line of the oldest chunk to keep.
DELETE FROM history WHERE subject = ?1 AND first < ?2
