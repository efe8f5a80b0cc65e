-- Replaces an execution. Columns that never change are not named, so that their indexes are left alone.
-- Takes the row and the columns in order, the last one as the number of bytes it shares with the history.
UPDATE execution SET version = ?2, tag = ?3, state = ?4, blocking_reason = ?5, blocking_detail = ?6, priority = ?7,
    updated_at = ?8, is_open = ?9, worker = ?10, lease_epoch = ?11, due_at = ?12, queue_id = ?13, cause = ?14, tags = ?15,
    history = history || ?16, history_lines = history_lines + ?17, body = ?18, room = zeroblob(?19 - octet_length(history))
WHERE row = ?1
