-- Takes an execution that cannot be read out of its queue, and makes it due: whoever looks at it finds out what is wrong.
-- Takes its row, the time.
UPDATE execution SET queue_id = NULL, due_at = ?2 WHERE row = ?1
