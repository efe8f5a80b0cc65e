//! Per-attempt output: append-only frames and a summary document.

use bytes::Bytes;
use ff_core::frame::{Frame, FrameId};
use ff_core::id::ExecutionId;
use ff_core::machine::decided::ClosedReason;
use ff_core::name::{FrameType, RequestId};
use ff_core::payload::Payload;
use ff_core::record::{Execution, Fence, Lease};
use ff_core::time::{Duration, Timestamp};

/// Appends one frame, if the lease in `fence` is live by the store's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Append {
    /// To which execution's output.
    pub execution_id: ExecutionId,
    /// To which attempt's.
    pub attempt_index: u32,
    /// Proof of the lease.
    pub fence: Fence,
    /// The frame.
    pub frame: NewFrame,
    /// Frames kept; older ones are trimmed.
    pub keep_frames: u32,
    /// Frames older than this are trimmed.
    pub keep_for: Option<Duration>,
}

impl Append {
    /// Appends `frame` to the current attempt of `execution`, kept as its policy says.
    pub fn to(execution: &Execution, fence: Fence, frame: NewFrame) -> Self {
        let stream = execution.definition.policy.stream();
        Self {
            execution_id: execution.id,
            attempt_index: execution.attempt.as_ref().map_or(0, |attempt| attempt.index),
            fence,
            frame,
            keep_frames: stream.retention_maxlen,
            keep_for: stream.retention_ttl,
        }
    }

    /// Refuses a frame that does not come from the live holder of the attempt. Every backend asks this first, with the
    /// execution as it stands.
    pub fn check(&self, execution: Option<&Execution>, now: Timestamp) -> Result<(), AppendError> {
        let execution = execution.ok_or(AppendError::StaleOwner)?;
        let attempt = execution.attempt.as_ref().ok_or(AppendError::StaleOwner)?;
        let followed = self.attempt_index < attempt.index;
        let ended = self.attempt_index == attempt.index && attempt.end.is_some();
        if followed || ended {
            return Err(AppendError::Closed);
        }
        let is_live = |lease: &&Lease| !lease.is_expired() && !lease.expires_at.has_come(now);
        let lease = execution.lease().filter(is_live).ok_or(AppendError::StaleOwner)?;
        if self.attempt_index != attempt.index || lease.fence(attempt.id) != self.fence {
            return Err(AppendError::StaleOwner);
        }
        Ok(())
    }
}

/// What is appended.
#[derive(Clone, Debug, PartialEq)]
pub struct NewFrame {
    /// What kind of frame.
    pub frame_type: FrameType,
    /// Its bytes.
    pub payload: Payload,
    /// The worker's id for tying things together.
    pub correlation_id: Option<String>,
    /// How it is kept.
    pub mode: Keep,
    /// Makes repeating safe: a frame under a key that its stream still holds is not appended again, nor is a summary touched.
    pub key: Option<RequestId>,
}

/// How a frame is kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Keep {
    /// Until trimmed.
    Durable,
    /// Gone after this long.
    BestEffort {
        /// How long.
        ttl: Duration,
    },
    /// Durable, and the attempt's summary document becomes `document`: the patch in the frame, already merged. Only if the
    /// summary still has the revision it was merged into.
    Summary {
        /// The whole document.
        document: Bytes,
        /// The revision it was computed from; 0 when there was none.
        revision: u64,
    },
}

/// An appended frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Its place.
    pub frame_id: FrameId,
    /// Frames kept now.
    pub count: u64,
    /// The store's time.
    pub now: Timestamp,
    /// Whether the stream held it already, under the same key.
    pub repeated: bool,
}

/// A frame that was not appended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The lease is not the live one, or has expired.
    #[error("the lease is not the live one")]
    StaleOwner,
    /// The attempt has ended.
    #[error("the stream is closed")]
    Closed,
    /// The summary has moved on.
    #[error("the summary has revision {revision}")]
    SummaryConflict {
        /// The revision it has.
        revision: u64,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] crate::Error),
}

/// Reads the output of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameRange {
    /// Of which execution.
    pub execution_id: ExecutionId,
    /// Of which attempt.
    pub attempt_index: u32,
    /// From here on, inclusive.
    pub from: FrameId,
    /// Up to here, inclusive.
    pub to: FrameId,
    /// At most this many frames.
    pub limit: usize,
}

/// Part of an attempt's output.
#[derive(Clone, Debug, PartialEq)]
pub struct Frames {
    /// The store's time.
    pub now: Timestamp,
    /// In order.
    pub frames: Vec<Frame>,
    /// The end of the stream, once it has ended and had at least one frame.
    pub closed: Option<(Timestamp, ClosedReason)>,
    /// The summary document with its revision.
    pub summary: Option<(Bytes, u64)>,
}
