//! Frames: append_frame, read_stream, tail_stream.

use serde::{Deserialize, Serialize};

use crate::frame::{Frame, FrameBound, FrameId, FrameMode};
use crate::id::ExecutionId;
use crate::machine::decided::ClosedReason;
use crate::name::{FrameType, RequestId};
use crate::payload::Payload;
use crate::record::Fence;
use crate::time::{Duration, Timestamp};
use crate::wire;

/// Appends one frame to the output of the current attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppendFrame {
    /// Proof of the lease, as the task carried it.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// What kind of frame, in the worker's words; readers tell frames apart by it.
    pub frame_type: FrameType,
    /// Its bytes, up to 64 KiB; with mode `summary`, a JSON merge patch.
    #[serde(rename = "payload:bytes")]
    pub payload: Payload,
    /// How it is kept; absent: `durable`, until the stream is trimmed.
    #[serde(default)]
    pub mode: FrameMode,
    /// The worker's id for tying things together; the engine only keeps it.
    pub correlation_id: Option<String>,
    /// Makes repeated appends one.
    pub request_id: Option<RequestId>,
}

/// An appended frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppendedFrame {
    /// Its place in the stream, `<ms>-<seq>`: a tail goes on after it.
    pub frame_id: FrameId,
    /// Frames the stream keeps now.
    pub frame_count: u64,
}

/// One attempt of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttemptRef {
    /// The execution whose output it is.
    pub execution_id: ExecutionId,
    /// Which of its attempts, from 0.
    pub attempt_index: u32,
}

/// A range of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadStream {
    /// From here on, inclusive: `start`, `end`, `<ms>` or `<ms>-<seq>`; absent: `start`.
    #[serde(default = "FrameBound::start")]
    pub from: FrameBound,
    /// Up to here, inclusive, in the same forms; absent: `end`.
    #[serde(default = "FrameBound::end")]
    pub to: FrameBound,
    /// At most this many; absent: 50, at most 1,000.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::text::page))]
    pub limit: Option<usize>,
}

/// What comes after a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TailStream {
    /// The last frame seen, exclusive; absent: from the beginning.
    pub after: Option<FrameId>,
    /// How long to wait for one, at most 30 s; zero or absent looks and answers. The attempt that would be the next one is
    /// waited for, too.
    #[serde(rename = "wait_ms", default)]
    pub wait: Duration,
    /// At most this many, at least 1; absent: 50, at most 1,000.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::text::page))]
    pub limit: Option<usize>,
}

/// Part of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamPage {
    /// In the order they were appended.
    pub frames: Vec<Frame>,
    /// When and why the stream ended; told with its last frame, or after it.
    #[serde(rename = "..closed", deserialize_with = "closed")]
    pub closed: Option<StreamEnd>,
}

/// The end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamEnd {
    /// When its attempt ended, and the stream with it.
    pub closed_at: Timestamp,
    /// How the attempt ended.
    pub closed_reason: ClosedReason,
}

fn closed<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<StreamEnd>, D::Error> {
    #[derive(Deserialize)]
    struct Values {
        closed_at: Option<Timestamp>,
        closed_reason: Option<ClosedReason>,
    }
    let Values {
        closed_at,
        closed_reason,
    } = Values::deserialize(deserializer)?;
    let end = closed_at.zip(closed_reason);
    Ok(end.map(|(closed_at, closed_reason)| StreamEnd {
        closed_at,
        closed_reason,
    }))
}
