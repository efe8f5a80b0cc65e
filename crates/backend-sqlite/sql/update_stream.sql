-- Notes how a stream grew and was trimmed.
-- Takes its row, frames, millis and sequence of the last frame, summary revision.
UPDATE stream SET frames = ?2, last_millis = ?3, last_sequence = ?4, summary_revision = ?5 WHERE row = ?1
