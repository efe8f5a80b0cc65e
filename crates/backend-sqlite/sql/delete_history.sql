-- Deletes the older history of a subject.
-- Takes the subject.
DELETE FROM history WHERE subject = ?1
