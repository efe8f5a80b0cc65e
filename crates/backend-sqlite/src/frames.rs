//! Output of attempts: frames, summaries and how streams end.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ff_backend::Result;
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames, Keep, NewFrame};
use ff_backend::hint::Hint;
use ff_core::frame::{Frame, FrameId};
use ff_core::id::ExecutionId;
use ff_core::machine::decided::{ClosedReason, StreamEnd};
use ff_core::name::RequestId;
use ff_core::payload::Payload;
use ff_core::record::{Execution, Record};
use ff_core::time::{Duration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::backend::SqliteBackend;
use crate::batch::Batch;
use crate::error::corrupt;
use crate::execution;
use crate::key::{index, uuid_text};
use crate::queues::parse;

/// The row of a stream; there is one from its first frame on.
struct Stream {
    row: i64,
    frames: u64,
    /// The place of its last frame; absent before the first.
    last: Option<FrameId>,
    summary_revision: u64,
    closed: Option<(Timestamp, ClosedReason)>,
}

/// Executions as they stand: read once for all frames of a call, because nothing else of the batch runs in between.
type Holders = BTreeMap<ExecutionId, Option<Execution>>;

impl SqliteBackend {
    /// Appends frames, each for itself.
    pub(crate) async fn append_frames(&self, appends: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        let count = appends.len();
        let written = self.write(move |batch| {
            let mut holders = Holders::new();
            appends
                .iter()
                .map(|append| batch.append(append, &mut holders))
                .collect()
        });
        written
            .await
            .unwrap_or_else(|error| vec![Err(AppendError::Store(error)); count])
    }

    /// Reads frames, the summary and the end of a stream.
    pub(crate) async fn read_frames(&self, range: FrameRange) -> Result<Frames> {
        self.read_store(move |connection, now| read(connection, &range, now))
            .await
    }
}

impl Batch<'_> {
    fn append(
        &mut self,
        append: &Append,
        holders: &mut Holders,
    ) -> rusqlite::Result<std::result::Result<Appended, AppendError>> {
        let (id, attempt_index, now) = (append.execution_id, append.attempt_index, self.now);
        if let Err(refusal) = append.check(self.holder(id, holders)?, now) {
            return Ok(Err(refusal));
        }
        let mut found = find(self.connection, id, attempt_index)?;
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
            None => self.open_stream(id, attempt_index)?,
        };
        let frame_id = self.push(&mut stream, &append.frame)?;
        self.trim(&mut stream, append.keep_frames, append.keep_for)?;
        let params = (
            stream.row,
            stream.frames,
            frame_id.millis,
            frame_id.sequence,
            stream.summary_revision,
        );
        self.run(include_str!("../sql/update_stream.sql"), params)?;
        self.hint(Hint::Stream {
            execution_id: id,
            attempt_index,
        });
        Ok(Ok(Appended {
            frame_id,
            count: stream.frames,
            now,
            repeated: false,
        }))
    }

    /// The frame that the stream holds under this key.
    fn repeated(&self, stream: &mut Stream, key: &RequestId) -> rusqlite::Result<Option<Appended>> {
        let expired = self.delete_expired_frames(stream.row, usize::MAX)?;
        if expired > 0 {
            self.run(include_str!("../sql/shrink_stream.sql"), (stream.row, expired))?;
            stream.frames = stream.frames.saturating_sub(expired as u64);
        }
        let mut statement = self.statement(include_str!("../sql/find_frame_of_key.sql"))?;
        let held = statement.query_row((stream.row, key.as_str()), |row| {
            Ok(Appended {
                frame_id: FrameId {
                    millis: row.get(0)?,
                    sequence: row.get(1)?,
                },
                count: stream.frames,
                now: self.now,
                repeated: true,
            })
        });
        held.optional()
    }

    fn holder<'h>(&self, id: ExecutionId, holders: &'h mut Holders) -> rusqlite::Result<Option<&'h Execution>> {
        let holder = match holders.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => match execution::load(self.connection, id)? {
                Some((Record::Execution(execution), _)) => unknown.insert(Some(*execution)),
                _ => unknown.insert(None),
            },
        };
        Ok(holder.as_ref())
    }

    fn open_stream(&self, id: ExecutionId, attempt_index: u32) -> rusqlite::Result<Stream> {
        let mut statement = self.statement(include_str!("../sql/insert_stream.sql"))?;
        let row = statement.insert((uuid_text(id), index(id.partition()), attempt_index))?;
        Ok(Stream {
            row,
            frames: 0,
            last: None,
            summary_revision: 0,
            closed: None,
        })
    }

    fn push(&self, stream: &mut Stream, new: &NewFrame) -> rusqlite::Result<FrameId> {
        let first = FrameId {
            millis: self.now.as_millis(),
            sequence: 0,
        };
        let id = stream.last.map_or(first, |last| first.max(last.after()));
        let expires_at = match &new.mode {
            Keep::BestEffort { ttl } => Some(self.now + *ttl),
            Keep::Durable | Keep::Summary { .. } => None,
        };
        let params = (
            stream.row,
            id.millis,
            id.sequence,
            new.frame_type.as_str(),
            new.correlation_id.as_deref(),
            expires_at.map(Timestamp::as_millis),
            new.payload.content_type.as_str(),
            &new.payload.bytes[..],
            new.key.as_ref().map(RequestId::as_str),
        );
        self.run(include_str!("../sql/insert_frame.sql"), params)?;
        if let Keep::Summary { document, .. } = &new.mode {
            self.run(include_str!("../sql/put_summary.sql"), (stream.row, &document[..]))?;
            stream.summary_revision += 1;
        }
        stream.frames += 1;
        stream.last = Some(id);
        Ok(id)
    }

    fn trim(&self, stream: &mut Stream, keep_frames: u32, keep_for: Option<Duration>) -> rusqlite::Result<()> {
        let expired = self.delete_expired_frames(stream.row, usize::MAX)?;
        stream.frames = stream.frames.saturating_sub(expired as u64);
        if let Some(keep_for) = keep_for {
            let mut statement = self.statement(include_str!("../sql/delete_old_frames.sql"))?;
            let old = statement.execute((stream.row, (self.now - keep_for).as_millis()))?;
            stream.frames = stream.frames.saturating_sub(old as u64);
        }
        let surplus = stream.frames.saturating_sub(u64::from(keep_frames));
        if surplus > 0 {
            self.run(include_str!("../sql/delete_first_frames.sql"), (stream.row, surplus))?;
            stream.frames -= surplus;
        }
        Ok(())
    }

    /// Deletes at most `limit` best-effort frames of a stream whose time is over; how many there were.
    pub(crate) fn delete_expired_frames(&self, stream_row: i64, limit: usize) -> rusqlite::Result<usize> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut statement = self.statement(include_str!("../sql/delete_expired_frames.sql"))?;
        statement.execute((stream_row, self.now.as_millis(), limit))
    }

    /// Ends the output of an attempt, if there is any.
    pub(crate) fn end_stream(&mut self, end: &StreamEnd) -> rusqlite::Result<()> {
        let (execution_id, attempt_index) = (end.execution_id, end.attempt_index);
        let stream = (uuid_text(execution_id), index(execution_id.partition()), attempt_index);
        let params = (
            stream.0,
            stream.1,
            stream.2,
            end.at.as_millis(),
            closed_text(end.reason),
        );
        self.run(include_str!("../sql/close_stream.sql"), params)?;
        self.hint(Hint::Stream {
            execution_id,
            attempt_index,
        });
        Ok(())
    }

    /// Hides the output of an execution. Its frames may be many: they are deleted later, little by little.
    pub(crate) fn delete_streams(&self, id: ExecutionId) -> rusqlite::Result<()> {
        self.run(
            include_str!("../sql/delete_streams.sql"),
            (uuid_text(id), index(id.partition())),
        )
    }
}

fn find(connection: &Connection, id: ExecutionId, attempt_index: u32) -> rusqlite::Result<Option<Stream>> {
    let mut statement = connection.prepare_cached(include_str!("../sql/find_stream.sql"))?;
    let params = (uuid_text(id), index(id.partition()), attempt_index);
    statement.query_row(params, stream).optional()
}

fn stream(row: &Row<'_>) -> rusqlite::Result<Stream> {
    let closed_at: Option<u64> = row.get(5)?;
    let closed = match closed_at {
        Some(at) => Some((Timestamp::from_millis(at), closed_reason(row.get_ref(6)?.as_str()?)?)),
        None => None,
    };
    Ok(Stream {
        row: row.get(0)?,
        frames: row.get(1)?,
        last: Some(FrameId {
            millis: row.get(2)?,
            sequence: row.get(3)?,
        }),
        summary_revision: row.get(4)?,
        closed,
    })
}

fn read(connection: &Connection, range: &FrameRange, now: Timestamp) -> rusqlite::Result<Frames> {
    let Some(stream) = find(connection, range.execution_id, range.attempt_index)? else {
        return Ok(Frames {
            now,
            frames: Vec::new(),
            closed: None,
            summary: None,
        });
    };
    let mut statement = connection.prepare_cached(include_str!("../sql/read_frames.sql"))?;
    let (from, to) = (range.from, range.to);
    let params = (
        stream.row,
        bound(from.millis),
        bound(from.sequence),
        bound(to.millis),
        bound(to.sequence),
        now.as_millis(),
        i64::try_from(range.limit).unwrap_or(i64::MAX),
    );
    let frames = statement.query_map(params, frame)?.collect::<rusqlite::Result<_>>()?;
    let mut statement = connection.prepare_cached(include_str!("../sql/load_summary.sql"))?;
    let document: Option<Vec<u8>> = statement.query_row([stream.row], |row| row.get(0)).optional()?;
    let summary = document.map(|document| (document.into(), stream.summary_revision));
    Ok(Frames {
        now,
        frames,
        closed: stream.closed,
        summary,
    })
}

fn frame(row: &Row<'_>) -> rusqlite::Result<Frame> {
    let bytes: Vec<u8> = row.get(5)?;
    Ok(Frame {
        id: FrameId {
            millis: row.get(0)?,
            sequence: row.get(1)?,
        },
        frame_type: parse(row.get_ref(2)?.as_str()?)?,
        payload: Payload {
            bytes: bytes.into(),
            content_type: parse(row.get_ref(4)?.as_str()?)?,
        },
        correlation_id: row.get(3)?,
    })
}

/// The end of a range as a column can hold it: no frame has a place beyond that.
fn bound(place: u64) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

const fn closed_text(reason: ClosedReason) -> &'static str {
    match reason {
        ClosedReason::Success => "success",
        ClosedReason::Failure => "failure",
        ClosedReason::Cancelled => "cancelled",
        ClosedReason::Reclaimed => "reclaimed",
        ClosedReason::Expired => "expired",
        ClosedReason::SuspensionTimeout => "suspension_timeout",
        ClosedReason::DependencyImpossible => "dependency_impossible",
    }
}

fn closed_reason(text: &str) -> rusqlite::Result<ClosedReason> {
    serde_json::from_value(text.into()).map_err(corrupt)
}
