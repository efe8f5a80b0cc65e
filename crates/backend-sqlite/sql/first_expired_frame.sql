-- The stream of the frame whose time is over for longest.
-- Takes now.
SELECT stream_row FROM frame INDEXED BY frame_expiring WHERE expires_at <= ?1 ORDER BY expires_at LIMIT 1
