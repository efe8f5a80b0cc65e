//! Output of attempts: frames, summaries and how streams end.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use ff_core::frame::{Frame, FrameId};
use ff_core::machine::step::ClosedReason;
use ff_core::time::{Duration, Timestamp};

use super::flaw::Flaw;
use super::store::Store;
use crate::frames::{Append, AppendError, Appended, FrameRange, Frames, Keep, NewFrame};
use crate::hint::Hint;

/// The output of one attempt; it exists from its first frame on.
#[derive(Default)]
pub(super) struct Stream {
    frames: BTreeMap<FrameId, Frame>,
    /// Best-effort frames, by the moment they are gone.
    expiring: BTreeSet<(Timestamp, FrameId)>,
    last: Option<FrameId>,
    summary: Option<(Bytes, u64)>,
    pub(super) closed: Option<(Timestamp, ClosedReason)>,
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
        self.frames.insert(id, frame);
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
        let age = |id: &FrameId| now.since(Timestamp::from_millis(id.millis));
        let is_old = |id: &FrameId| keep_for.is_some_and(|keep_for| age(id) > keep_for);
        while self.frames.len() > keep_frames as usize
            || self.frames.first_key_value().is_some_and(|(id, _)| is_old(id))
        {
            self.frames.pop_first();
        }
    }

    fn forget_expired(&mut self, now: Timestamp) {
        while let Some((_, id)) = self.expiring.first().filter(|(at, _)| at.has_come(now)).copied() {
            self.expiring.pop_first();
            self.frames.remove(&id);
        }
    }

    fn frames_in(&self, range: &FrameRange) -> impl Iterator<Item = &Frame> {
        let (from, to) = (range.from, range.to);
        self.frames
            .range(from..)
            .map(|(_, frame)| frame)
            .take_while(move |frame| frame.id <= to)
    }
}

impl Store {
    /// Appends a frame under a live lease.
    pub(super) fn append(&mut self, append: Append) -> Result<Appended, AppendError> {
        let now = self.now;
        if !self.flawed(Flaw::FrameFenceIgnored) {
            append.check(self.execution(append.execution_id).map(|(execution, _)| execution), now)?;
        }
        let (trims, overwrites) = (
            !self.flawed(Flaw::FrameTrimIgnored),
            self.flawed(Flaw::SummaryLastWriterWins),
        );
        let Append {
            execution_id,
            attempt_index,
            frame,
            keep_frames,
            keep_for,
            ..
        } = append;
        let stream = self.streams.get(&(execution_id, attempt_index));
        let revision = stream.map_or(0, Stream::revision);
        if let Keep::Summary { revision: expected, .. } = frame.mode
            && expected != revision
            && !overwrites
        {
            return Err(AppendError::SummaryConflict { revision });
        }
        let stream = self.streams.entry((execution_id, attempt_index)).or_default();
        let frame_id = stream.push(frame, now);
        stream.forget_expired(now);
        if trims {
            stream.trim(keep_frames, keep_for, now);
        }
        let count = stream.frames.len() as u64;
        self.hints.note(Hint::Stream {
            execution_id,
            attempt_index,
        });
        Ok(Appended { frame_id, count, now })
    }

    /// Reads part of an attempt's output.
    pub(super) fn read(&mut self, range: &FrameRange) -> Frames {
        let now = self.now;
        let backwards = self.flawed(Flaw::FrameOrderLost);
        let Some(stream) = self.streams.get_mut(&(range.execution_id, range.attempt_index)) else {
            return Frames {
                now,
                frames: Vec::new(),
                closed: None,
                summary: None,
            };
        };
        stream.forget_expired(now);
        let mut frames: Vec<Frame> = stream.frames_in(range).take(range.limit).cloned().collect();
        if backwards {
            frames.reverse();
        }
        Frames {
            now,
            frames,
            closed: stream.closed,
            summary: stream.summary.clone(),
        }
    }
}
