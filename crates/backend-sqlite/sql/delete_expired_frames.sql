-- Deletes frames of a stream whose time is over.
-- Takes stream row, now, how many at most.
DELETE FROM frame WHERE rowid IN (
    SELECT rowid FROM frame INDEXED BY frame_expiring_in_stream WHERE stream_row = ?1 AND expires_at <= ?2 LIMIT ?3)
