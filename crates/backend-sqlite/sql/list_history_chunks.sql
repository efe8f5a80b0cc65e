-- Chunks of older history, from the one that holds a line on.
-- Takes the subject and the number of the line.
SELECT first, lines FROM history
WHERE subject = ?1
    AND first >= coalesce((SELECT max(first) FROM history WHERE subject = ?1 AND first <= ?2), 0)
ORDER BY first
