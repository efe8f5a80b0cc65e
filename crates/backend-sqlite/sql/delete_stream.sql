-- Deletes a stream that has no frames any more.
-- Takes its row.
DELETE FROM stream WHERE row = ?1
