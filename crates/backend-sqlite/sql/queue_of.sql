-- The queue an execution waits in.
-- Takes its row.
SELECT queue_id FROM execution WHERE row = ?1
