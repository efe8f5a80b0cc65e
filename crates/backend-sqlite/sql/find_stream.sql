-- The output of an attempt, without its frames.
-- Takes uuid, partition, attempt index.
SELECT row, frames, last_millis, last_sequence, summary_revision, closed_at, closed_reason FROM stream
WHERE uuid = ?1 AND partition = ?2 AND attempt_index = ?3 AND is_deleted = 0
