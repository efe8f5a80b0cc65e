//! Output of attempts: frames, summaries and how streams end.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames, Keep, NewFrame};
use ff_backend::hint::Hint;
use ff_core::frame::{Frame, FrameId};
use ff_core::id::ExecutionId;
use ff_core::machine::decided::{ClosedReason, StreamEnd};
use ff_core::name::RequestId;
use ff_core::record::{Execution, Record, RecordKey};
use ff_core::time::{Duration, Timestamp};
use rusqlite::Row;

use crate::batch::Batch;
use crate::column::{columns, integer, moment_if_any, parsed, payload, to_json};
use crate::database::Database;
use crate::error::corrupt;
use crate::record;
use crate::sql::{self, with};

/// The row of a stream; there is one from its first frame on.
struct Stream {
    row: i64,
    frames: u64,
    /// The place of its last frame; before the first, one before all.
    last: FrameId,
    summary_revision: u64,
    closed: Option<(Timestamp, ClosedReason)>,
}

/// Executions as they stand: read once for all frames of a call, because nothing else of the batch runs in between.
type Holders = BTreeMap<ExecutionId, Option<Execution>>;

impl Batch<'_> {
    /// Appends frames, each for itself.
    pub(crate) fn append_all(&mut self, appends: &[Append]) -> rusqlite::Result<Vec<Result<Appended, AppendError>>> {
        let mut holders = Holders::new();
        appends.iter().map(|append| self.append(append, &mut holders)).collect()
    }

    fn append(&mut self, append: &Append, holders: &mut Holders) -> rusqlite::Result<Result<Appended, AppendError>> {
        let (execution_id, attempt_index) = (append.execution_id, append.attempt_index);
        if let Err(refusal) = append.check(self.holder(execution_id, holders)?, self.now) {
            return Ok(Err(refusal));
        }
        let mut found = find(&self.database, execution_id, attempt_index)?;
        if let (Some(stream), Some(key)) = (&mut found, &append.frame.key)
            && let Some(repeated) = self.repeated(stream, key)?
        {
            return Ok(Ok(repeated));
        }
        let revision = found.as_ref().map_or(0, |stream| stream.summary_revision);
        if let Keep::Summary { revision: expected, .. } = append.frame.mode
            && expected != revision
        {
            return Ok(Err(AppendError::SummaryConflict { revision }));
        }
        let mut stream = match found {
            Some(stream) => stream,
            None => self.open_stream(execution_id, attempt_index)?,
        };
        self.push(&mut stream, &append.frame)?;
        self.trim(&mut stream, append.keep_frames, append.keep_for)?;
        self.database.run(with!(sql::UPDATE_STREAM,
            frames: stream.frames,
            millis: stream.last.millis,
            sequence: stream.last.sequence,
            summary_revision: stream.summary_revision,
            row: stream.row))?;
        self.hint(Hint::Stream {
            execution_id,
            attempt_index,
        });
        Ok(Ok(Appended {
            frame_id: stream.last,
            count: stream.frames,
            now: self.now,
            repeated: false,
        }))
    }

    /// The frame that the stream holds under this key.
    fn repeated(&self, stream: &mut Stream, key: &RequestId) -> rusqlite::Result<Option<Appended>> {
        let expired = self.delete_expired_frames(stream.row, usize::MAX)?;
        if expired > 0 {
            self.shrink_stream(stream.row, expired)?;
            stream.frames = stream.frames.saturating_sub(expired as u64);
        }
        let asked = with!(sql::FIND_FRAME_OF_KEY, stream: stream.row, key: key.as_str());
        let held = self.database.find(asked, |row| frame_id(row, 0))?;
        Ok(held.map(|frame_id| Appended {
            frame_id,
            count: stream.frames,
            now: self.now,
            repeated: true,
        }))
    }

    fn holder<'h>(&self, id: ExecutionId, holders: &'h mut Holders) -> rusqlite::Result<Option<&'h Execution>> {
        if let Entry::Vacant(unknown) = holders.entry(id) {
            let key = RecordKey::Execution(id);
            unknown.insert(match record::load(&self.database, id.partition(), &key, self.now)? {
                Some((Record::Execution(execution), _)) => Some(*execution),
                _ => None,
            });
        }
        Ok(holders[&id].as_ref())
    }

    fn open_stream(&self, id: ExecutionId, attempt_index: u32) -> rusqlite::Result<Stream> {
        let (uuid, partition) = columns(id);
        let opened = with!(sql::INSERT_STREAM, uuid: uuid, partition: partition, attempt_index: attempt_index);
        Ok(Stream {
            row: self.database.insert(opened)?,
            frames: 0,
            last: FrameId { millis: 0, sequence: 0 },
            summary_revision: 0,
            closed: None,
        })
    }

    fn push(&self, stream: &mut Stream, new: &NewFrame) -> rusqlite::Result<()> {
        let first = FrameId {
            millis: self.now.as_millis(),
            sequence: 0,
        };
        let id = first.max(stream.last.after());
        let expires_at = match &new.mode {
            Keep::BestEffort { ttl } => Some(self.now + *ttl),
            Keep::Durable | Keep::Summary { .. } => None,
        };
        self.database.run(with!(sql::INSERT_FRAME,
            stream: stream.row,
            millis: id.millis,
            sequence: id.sequence,
            frame_type: new.frame_type.as_str(),
            correlation_id: new.correlation_id,
            expires_at: expires_at.map(Timestamp::as_millis),
            content_type: new.payload.content_type.as_str(),
            bytes: &new.payload.bytes[..],
            key: new.key.as_ref().map(RequestId::as_str)))?;
        if let Keep::Summary { document, .. } = &new.mode {
            self.database
                .run(with!(sql::PUT_SUMMARY, stream: stream.row, document: &document[..]))?;
            stream.summary_revision += 1;
        }
        stream.frames += 1;
        stream.last = id;
        Ok(())
    }

    fn trim(&self, stream: &mut Stream, keep_frames: u32, keep_for: Option<Duration>) -> rusqlite::Result<()> {
        let mut gone = self.delete_expired_frames(stream.row, usize::MAX)?;
        if let Some(keep_for) = keep_for {
            let before = (self.now - keep_for).as_millis();
            let old = with!(sql::DELETE_OLD_FRAMES, stream: stream.row, before: before);
            gone += self.database.change(old)?;
        }
        stream.frames = stream.frames.saturating_sub(gone as u64);
        let surplus = stream.frames.saturating_sub(u64::from(keep_frames));
        if surplus > 0 {
            self.database
                .run(with!(sql::DELETE_FIRST_FRAMES, stream: stream.row, limit: surplus))?;
            stream.frames -= surplus;
        }
        Ok(())
    }

    /// Deletes at most `limit` best-effort frames of a stream whose time is over; how many there were.
    pub(crate) fn delete_expired_frames(&self, stream: i64, limit: usize) -> rusqlite::Result<usize> {
        let now = self.now.as_millis();
        let expired = with!(sql::DELETE_EXPIRED_FRAMES, stream: stream, now: now, limit: integer(limit));
        self.database.change(expired)
    }

    /// Notes that frames of a stream were cleaned up.
    pub(crate) fn shrink_stream(&self, stream: i64, by: usize) -> rusqlite::Result<()> {
        self.database.run(with!(sql::SHRINK_STREAM, count: by, row: stream))
    }

    /// Ends the output of an attempt, if there is any.
    pub(crate) fn end_stream(&mut self, end: &StreamEnd) -> rusqlite::Result<()> {
        let (execution_id, attempt_index) = (end.execution_id, end.attempt_index);
        let (uuid, partition) = columns(execution_id);
        self.database.run(with!(sql::CLOSE_STREAM,
            at: end.at.as_millis(),
            reason: word(end.reason)?,
            uuid: uuid,
            partition: partition,
            attempt_index: attempt_index))?;
        self.hint(Hint::Stream {
            execution_id,
            attempt_index,
        });
        Ok(())
    }
}

fn find(database: &Database<'_>, id: ExecutionId, attempt_index: u32) -> rusqlite::Result<Option<Stream>> {
    let (uuid, partition) = columns(id);
    let asked = with!(sql::FIND_STREAM, uuid: uuid, partition: partition, attempt_index: attempt_index);
    database.find(asked, |row| {
        let reason = row.get_ref(6)?.as_str_or_null()?.map(reason).transpose()?;
        Ok(Stream {
            row: row.get(0)?,
            frames: row.get(1)?,
            last: frame_id(row, 2)?,
            summary_revision: row.get(4)?,
            closed: moment_if_any(row, 5)?.zip(reason),
        })
    })
}

/// Reads frames, the summary and the end of a stream.
pub(crate) fn read(database: &Database<'_>, range: &FrameRange, now: Timestamp) -> rusqlite::Result<Frames> {
    let mut output = Frames {
        now,
        frames: Vec::new(),
        closed: None,
        summary: None,
    };
    let Some(stream) = find(database, range.execution_id, range.attempt_index)? else {
        return Ok(output);
    };
    let (from, to) = (range.from, range.to);
    let asked = with!(sql::READ_FRAMES,
        stream: stream.row,
        from_millis: integer(from.millis),
        from_sequence: integer(from.sequence),
        to_millis: integer(to.millis),
        to_sequence: integer(to.sequence),
        now: now.as_millis(),
        limit: integer(range.limit));
    output.frames = database.all(asked, frame)?;
    output.closed = stream.closed;
    let summary = with!(sql::LOAD_SUMMARY, stream: stream.row);
    let document: Option<Vec<u8>> = database.find(summary, |row| row.get(0))?;
    output.summary = document.map(|document| (document.into(), stream.summary_revision));
    Ok(output)
}

fn frame(row: &Row<'_>) -> rusqlite::Result<Frame> {
    Ok(Frame {
        id: frame_id(row, 0)?,
        frame_type: parsed(row, 2)?,
        correlation_id: row.get(3)?,
        payload: payload(row, 4)?,
    })
}

/// A place that stands in two columns.
fn frame_id(row: &Row<'_>, column: usize) -> rusqlite::Result<FrameId> {
    Ok(FrameId {
        millis: row.get(column)?,
        sequence: row.get(column + 1)?,
    })
}

/// The word for a reason, as its JSON has it.
fn word(reason: ClosedReason) -> rusqlite::Result<String> {
    Ok(to_json(&reason)?.replace('"', ""))
}

fn reason(word: &str) -> rusqlite::Result<ClosedReason> {
    serde_json::from_value(word.into()).map_err(corrupt)
}
