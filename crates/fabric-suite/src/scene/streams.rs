//! Output of attempts.

use ff_core::command::claim::Task;
use ff_core::command::stream::{AppendFrame, AppendedFrame, AttemptRef, ReadStream, StreamPage, TailStream};
use ff_core::fabric::{On, Result};
use ff_core::frame::{FrameBound, FrameId, FrameMode};
use ff_core::name::FrameType;
use ff_core::payload::Payload;
use ff_core::time::Duration;
use serde_json::Value;

use super::Scene;

impl Scene<'_> {
    /// Appends a frame to the output of a task.
    pub(crate) async fn append(&self, task: &Task, text: &str) -> Result<AppendedFrame> {
        self.append_as(task, frame(task, text)).await
    }

    /// Appends this frame to the output of a task.
    pub(crate) async fn append_as(&self, task: &Task, frame: AppendFrame) -> Result<AppendedFrame> {
        self.fabric.append_frame(On::new(task.execution_id, frame)).await
    }

    /// The whole output of a task's attempt.
    pub(crate) async fn output(&self, task: &Task) -> StreamPage {
        let everything = ReadStream {
            from: FrameBound::Start,
            to: FrameBound::End,
            limit: Some(1_000),
        };
        let output = self.fabric.read_stream(On::new(attempt(task), everything)).await;
        output.unwrap()
    }

    /// The whole output of a task's attempt, as text.
    pub(crate) async fn texts(&self, task: &Task) -> Vec<String> {
        let frames = self.output(task).await.frames;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        frames.iter().map(|frame| text(&frame.payload.bytes)).collect()
    }

    /// What comes after a frame, without waiting.
    pub(crate) async fn peek(&self, task: &Task, after: Option<FrameId>) -> StreamPage {
        let peek = TailStream {
            after,
            wait: Duration::ZERO,
            limit: None,
        };
        self.fabric.tail_stream(On::new(attempt(task), peek)).await.unwrap()
    }
}

/// The attempt a task runs.
pub(crate) fn attempt(task: &Task) -> AttemptRef {
    AttemptRef {
        execution_id: task.execution_id,
        attempt_index: task.attempt_index,
    }
}

/// A durable frame.
pub(crate) fn frame(task: &Task, text: &str) -> AppendFrame {
    AppendFrame {
        fence: Some(task.fence),
        frame_type: FrameType::parse("log").unwrap(),
        payload: Payload::binary(text.to_owned()),
        mode: FrameMode::Durable,
        correlation_id: None,
        request_id: None,
    }
}

/// A patch of the summary.
pub(crate) fn summary(task: &Task, patch: &Value) -> AppendFrame {
    AppendFrame {
        payload: Payload::json(patch),
        mode: FrameMode::Summary,
        ..frame(task, "")
    }
}
