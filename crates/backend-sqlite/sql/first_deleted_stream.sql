-- A stream of a deleted execution.
-- Takes nothing.
SELECT row FROM stream INDEXED BY stream_deleted WHERE is_deleted = 1 LIMIT 1
