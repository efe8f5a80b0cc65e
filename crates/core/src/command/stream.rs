//! Frames: append_frame, read_stream, tail_stream.

use crate::frame::{Frame, FrameBound, FrameId, FrameMode};
use crate::id::ExecutionId;
use crate::machine::step::ClosedReason;
use crate::name::{FrameType, RequestId};
use crate::payload::Payload;
use crate::record::Fence;
use crate::time::{Duration, Timestamp};

/// Appends one frame to the output of the current attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct AppendFrame {
    /// Proof of the lease.
    pub fence: Option<Fence>,
    /// What kind of frame.
    pub frame_type: FrameType,
    /// Its bytes.
    pub payload: Payload,
    /// How it is kept.
    pub mode: FrameMode,
    /// The worker's id for tying things together.
    pub correlation_id: Option<String>,
    /// Makes repeated appends one.
    pub request_id: Option<RequestId>,
}

/// An appended frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendedFrame {
    /// Its place.
    pub frame_id: FrameId,
    /// Frames the stream keeps now.
    pub frame_count: u64,
}

/// One attempt of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptRef {
    /// The execution.
    pub execution_id: ExecutionId,
    /// Which of its attempts.
    pub attempt_index: u32,
}

/// A range of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadStream {
    /// From here on, inclusive.
    pub from: FrameBound,
    /// Up to here, inclusive.
    pub to: FrameBound,
    /// At most this many; absent: 50, at most 1,000.
    pub limit: Option<usize>,
}

/// What comes after a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TailStream {
    /// The last frame seen, exclusive; absent: from the beginning.
    pub after: Option<FrameId>,
    /// How long to wait for one; zero looks and answers.
    pub wait: Duration,
    /// At most this many, at least 1; absent: 50, at most 1,000.
    pub limit: Option<usize>,
}

/// Part of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamPage {
    /// In order.
    pub frames: Vec<Frame>,
    /// When and why the stream ended; told with its last frame, or after it.
    pub closed: Option<(Timestamp, ClosedReason)>,
}
