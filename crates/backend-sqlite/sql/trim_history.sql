-- Forgets chunks that hold only lines before the oldest that is shown.
-- Takes subject, and the number of the oldest line that is shown.
DELETE FROM history
WHERE subject = ?1 AND first < (SELECT max(first) FROM history WHERE subject = ?1 AND first <= ?2)
