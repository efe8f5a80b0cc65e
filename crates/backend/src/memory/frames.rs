//! Output of attempts: frames, summaries and how streams end.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use ff_core::frame::{Frame, FrameId};
use ff_core::machine::decided::ClosedReason;
use ff_core::name::RequestId;
use ff_core::time::{Duration, Timestamp};

use super::store::Store;
use crate::frames::{Append, AppendError, Appended, FrameRange, Frames, Keep, NewFrame};
use crate::hint::Hint;

/// The output of one attempt; it exists from its first frame on.
#[derive(Clone, Default)]
pub(super) struct Stream {
    frames: BTreeMap<FrameId, Held>,
    /// The frames that have a key, by it.
    by_key: BTreeMap<RequestId, FrameId>,
    /// Best-effort frames, by the moment they are gone.
    expiring: BTreeSet<(Timestamp, FrameId)>,
    last: Option<FrameId>,
    summary: Option<(Bytes, u64)>,
    pub(super) closed: Option<(Timestamp, ClosedReason)>,
}

/// A frame as it is kept.
#[derive(Clone)]
struct Held {
    frame: Frame,
    key: Option<RequestId>,
}

impl Stream {
    fn revision(&self) -> u64 {
        self.summary.as_ref().map_or(0, |(_, revision)| *revision)
    }

    fn push(&mut self, new: NewFrame, now: Timestamp) -> FrameId {
        let id = self.next_id(now);
        match new.mode {
            Keep::Durable => {}
            Keep::BestEffort { ttl } => {
                self.expiring.insert((now + ttl, id));
            }
            Keep::Summary { document, .. } => self.summary = Some((document, self.revision() + 1)),
        }
        let frame = Frame {
            id,
            frame_type: new.frame_type,
            payload: new.payload,
            correlation_id: new.correlation_id,
        };
        self.last = Some(id);
        self.by_key.extend(new.key.clone().map(|key| (key, id)));
        self.frames.insert(id, Held { frame, key: new.key });
        id
    }

    fn next_id(&self, now: Timestamp) -> FrameId {
        let first = FrameId {
            millis: now.as_millis(),
            sequence: 0,
        };
        self.last.map_or(first, |last| first.max(last.after()))
    }

    fn trim(&mut self, keep_frames: u32, keep_for: Option<Duration>, now: Timestamp) {
        let age = |id: FrameId| now.since(Timestamp::from_millis(id.millis));
        let is_old = |id| keep_for.is_some_and(|keep_for| age(id) > keep_for);
        while let Some(first) = self.frames.keys().next().copied()
            && (self.frames.len() > keep_frames as usize || is_old(first))
        {
            self.forget(first);
        }
    }

    fn forget_expired(&mut self, now: Timestamp) {
        while let Some((_, id)) = self.expiring.first().filter(|(at, _)| at.has_come(now)).copied() {
            self.expiring.pop_first();
            self.forget(id);
        }
    }

    fn forget(&mut self, id: FrameId) {
        if let Some(Held { key: Some(key), .. }) = self.frames.remove(&id) {
            self.by_key.remove(&key);
        }
    }

    fn frames_in(&self, range: &FrameRange) -> impl Iterator<Item = &Frame> {
        let (from, to) = (range.from, range.to);
        self.frames
            .range(from..)
            .map(|(_, held)| &held.frame)
            .take_while(move |frame| frame.id <= to)
    }
}

impl Store {
    /// Appends a frame under a live lease, unless its stream holds it already.
    pub(super) fn append(&mut self, append: Append) -> Result<Appended, AppendError> {
        let now = self.now;
        append.check(self.execution(append.execution_id).map(|(execution, _)| execution), now)?;
        if let Some(repeated) = self.repeated_frame(&append) {
            return Ok(repeated);
        }
        self.check_summary(&append)?;
        Ok(self.push_frame(append))
    }

    /// The frame that the stream holds under the key of this one.
    fn repeated_frame(&mut self, append: &Append) -> Option<Appended> {
        let (now, key) = (self.now, append.frame.key.as_ref()?);
        let stream = self.streams.get_mut(&(append.execution_id, append.attempt_index))?;
        stream.forget_expired(now);
        let frame_id = stream.by_key.get(key).copied()?;
        Some(Appended {
            frame_id,
            count: stream.frames.len() as u64,
            now,
            repeated: true,
        })
    }

    fn check_summary(&self, append: &Append) -> Result<(), AppendError> {
        let stream = self.streams.get(&(append.execution_id, append.attempt_index));
        let revision = stream.map_or(0, Stream::revision);
        match append.frame.mode {
            Keep::Summary { revision: expected, .. } if expected != revision => {
                Err(AppendError::SummaryConflict { revision })
            }
            _ => Ok(()),
        }
    }

    fn push_frame(&mut self, append: Append) -> Appended {
        let now = self.now;
        let (execution_id, attempt_index) = (append.execution_id, append.attempt_index);
        let stream = self.streams.entry((execution_id, attempt_index)).or_default();
        let frame_id = stream.push(append.frame, now);
        stream.forget_expired(now);
        stream.trim(append.keep_frames, append.keep_for, now);
        let count = stream.frames.len() as u64;
        self.hints.note(Hint::Stream {
            execution_id,
            attempt_index,
        });
        Appended {
            frame_id,
            count,
            now,
            repeated: false,
        }
    }

    /// Reads part of an attempt's output.
    pub(super) fn read(&mut self, range: &FrameRange) -> Frames {
        let now = self.now;
        let Some(stream) = self.streams.get_mut(&(range.execution_id, range.attempt_index)) else {
            return Frames {
                now,
                frames: Vec::new(),
                closed: None,
                summary: None,
            };
        };
        stream.forget_expired(now);
        Frames {
            now,
            frames: stream.frames_in(range).take(range.limit).cloned().collect(),
            closed: stream.closed,
            summary: stream.summary.clone(),
        }
    }
}
