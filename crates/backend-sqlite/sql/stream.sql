-- name: insert_stream
-- A stream that is about to get its first frame.
INSERT INTO stream (uuid, partition, attempt_index, frames, last_millis, last_sequence, summary_revision)
VALUES (:uuid, :partition, :attempt_index, 0, 0, 0, 0)

-- name: find_stream
-- The output of an attempt, without its frames.
SELECT row, frames, last_millis, last_sequence, summary_revision, closed_at, closed_reason FROM stream
WHERE uuid = :uuid AND partition = :partition AND attempt_index = :attempt_index AND is_deleted = 0

-- name: update_stream
-- Notes how a stream grew and was trimmed.
UPDATE stream SET frames = :frames, last_millis = :millis, last_sequence = :sequence, summary_revision = :summary_revision
WHERE row = :row

-- name: close_stream
-- Ends the output of an attempt, if there is any.
UPDATE stream SET closed_at = :at, closed_reason = :reason
WHERE uuid = :uuid AND partition = :partition AND attempt_index = :attempt_index AND is_deleted = 0

-- name: shrink_stream
-- Notes that frames of a stream were cleaned up.
UPDATE stream SET frames = frames - :count WHERE row = :row

-- name: delete_stream
-- Deletes a stream that has no frames any more.
DELETE FROM stream WHERE row = :row

-- name: delete_streams
-- Hides the output of every attempt of an execution; the frames are cleaned up later, little by little.
UPDATE stream SET is_deleted = 1 WHERE uuid = :uuid AND partition = :partition AND is_deleted = 0

-- name: first_deleted_stream
-- A stream of a deleted execution.
SELECT row FROM stream INDEXED BY stream_deleted WHERE is_deleted = 1 LIMIT 1

-- name: insert_frame
-- A new frame.
INSERT INTO frame (stream_row, millis, sequence, frame_type, correlation_id, expires_at, content_type, bytes, key)
VALUES (:stream, :millis, :sequence, :frame_type, :correlation_id, :expires_at, :content_type, :bytes, :key)

-- name: read_frames
-- Frames of a stream from one place to another, both included, that are not gone yet.
SELECT millis, sequence, frame_type, correlation_id, content_type, bytes FROM frame INDEXED BY frame_by_id
WHERE stream_row = :stream AND (millis, sequence) >= (:from_millis, :from_sequence)
    AND (millis, sequence) <= (:to_millis, :to_sequence) AND (expires_at IS NULL OR expires_at > :now)
ORDER BY millis, sequence LIMIT :limit

-- name: find_frame_of_key
-- The place of the frame that a stream holds under a key.
SELECT millis, sequence FROM frame INDEXED BY frame_by_key WHERE stream_row = :stream AND key = :key

-- name: first_expired_frame
-- The stream of the frame whose time is over for longest.
SELECT stream_row FROM frame INDEXED BY frame_expiring WHERE expires_at <= :now ORDER BY expires_at LIMIT 1

-- name: delete_expired_frames
-- Deletes frames of a stream whose time is over.
DELETE FROM frame WHERE rowid IN (
    SELECT rowid FROM frame INDEXED BY frame_expiring_in_stream WHERE stream_row = :stream AND expires_at <= :now LIMIT :limit)

-- name: delete_first_frames
-- Deletes the first frames of a stream.
DELETE FROM frame WHERE rowid IN (
    SELECT rowid FROM frame INDEXED BY frame_by_id WHERE stream_row = :stream ORDER BY millis, sequence LIMIT :limit)

-- name: delete_old_frames
-- Deletes frames of a stream that came before a moment.
DELETE FROM frame INDEXED BY frame_by_id WHERE stream_row = :stream AND millis < :before

-- name: put_summary
-- The summary of a stream, in place of the one before.
INSERT INTO summary (stream_row, document) VALUES (:stream, :document)
ON CONFLICT (stream_row) DO UPDATE SET document = excluded.document

-- name: load_summary
-- The summary of a stream.
SELECT document FROM summary WHERE stream_row = :stream

-- name: delete_summary
-- Deletes the summary of a stream.
DELETE FROM summary WHERE stream_row = :stream
