//! Reading the output of attempts: read_stream, tail_stream, read_summary.

use async_trait::async_trait;
use ff_backend::frames::{FrameRange, Frames};
use ff_backend::load::Load;
use ff_core::command::page::PageRequest;
use ff_core::command::stream::{AttemptRef, ReadStream, StreamEnd, StreamPage, TailStream};
use ff_core::error::Code;
use ff_core::fabric::{On, Result, Streams};
use ff_core::frame::FrameId;
use ff_core::machine::step::ClosedReason;
use ff_core::name::ContentType;
use ff_core::payload::Payload;
use ff_core::record::{Attempt, AttemptEndState, Execution, OutcomeKind, RecordKey};
use ff_core::time::Timestamp;
use futures::future::{Either, select};
use tokio::sync::futures::OwnedNotified;

use super::reads::attempt_in;
use crate::bells::Ear;
use crate::engine::Engine;

type Closed = Option<(Timestamp, ClosedReason)>;

#[async_trait]
impl Streams for Engine {
    async fn read_stream(&self, request: On<AttemptRef, ReadStream>) -> Result<StreamPage> {
        let On { id, command } = request;
        let limit = check_limit(command.limit)?;
        self.stream_page(range(id, command.from.as_from(), command.to.as_to(), limit))
            .await
    }

    async fn tail_stream(&self, request: On<AttemptRef, TailStream>) -> Result<StreamPage> {
        let On { id, command } = request;
        let mut watch = self.watch(command.wait)?;
        let from = command.after.map_or(FrameId::START, FrameId::after);
        let range = range(id, from, FrameId::END, check_limit(command.limit)?);
        let stream = self.shared.streams.listen(id);
        // A stream that never had a frame ends without a hint of its own. The history says it then, and whoever has seen
        // a frame need not listen to it.
        let partition = id.execution_id.partition();
        let feed = command.after.is_none().then(|| self.shared.feeds.listen(partition));
        loop {
            let ring = first(stream.next_ring(), feed.as_ref().map(Ear::next_ring));
            let page = self.stream_page(range.clone()).await?;
            if !page.frames.is_empty() || page.closed.is_some() || !watch.wait(ring).await? {
                return Ok(page);
            }
        }
    }

    async fn read_summary(&self, attempt: AttemptRef) -> Result<Option<Payload>> {
        let nothing = range(attempt, FrameId::END, FrameId::END, 1);
        let (_, frames) = self.read_frames(nothing).await?;
        Ok(frames.summary.map(|(document, _)| Payload {
            bytes: document,
            content_type: ContentType::json(),
        }))
    }
}

impl Engine {
    async fn stream_page(&self, range: FrameRange) -> Result<StreamPage> {
        let (closed, frames) = self.read_frames(range).await?;
        let end = |(closed_at, closed_reason)| StreamEnd {
            closed_at,
            closed_reason,
        };
        Ok(StreamPage {
            closed: frames.closed.or(closed).map(end),
            frames: frames.frames,
        })
    }

    /// Frames, and how the attempt itself says that it ended: the stream says so only if it ever had a frame.
    ///
    /// The attempt is read first. One that has ended gets no more frames, so none is missing beside its end.
    async fn read_frames(&self, range: FrameRange) -> Result<(Closed, Frames)> {
        let (id, index) = (range.execution_id, range.attempt_index);
        self.check_id(id)?;
        let keys = [RecordKey::Execution(id), RecordKey::Attempt(id, index)];
        let snapshot = self.store().load(Load::records(id.partition(), keys)).await?;
        let execution = self.visible(&snapshot, id)?;
        let missing = || Code::AttemptNotFound.because(format!("execution {id} has no attempt {index}"));
        let attempt = attempt_in(&snapshot, execution, index).ok_or_else(missing)?;
        let closed = closed_by(execution, attempt);
        Ok((closed, self.store().read(range).await?))
    }
}

/// When and why the stream of an attempt without frames ended, as far as its own record tells.
fn closed_by(execution: &Execution, attempt: &Attempt) -> Closed {
    let end = attempt.end.as_ref()?;
    let is_last = execution
        .attempt
        .as_ref()
        .is_some_and(|last| last.index == attempt.index);
    let outcome = execution.outcome().filter(|_| is_last).map(|outcome| outcome.kind);
    let reason = match (end.state, outcome) {
        (AttemptEndState::EndedSuccess, _) => ClosedReason::Success,
        (AttemptEndState::EndedCancelled, _) => ClosedReason::Cancelled,
        (AttemptEndState::InterruptedReclaimed, _) => ClosedReason::Reclaimed,
        (AttemptEndState::EndedFailure, Some(OutcomeKind::Expired)) => ClosedReason::Expired,
        (AttemptEndState::EndedFailure, _) => ClosedReason::Failure,
    };
    Some((end.at, reason))
}

fn range(attempt: AttemptRef, from: FrameId, to: FrameId, limit: usize) -> FrameRange {
    FrameRange {
        execution_id: attempt.execution_id,
        attempt_index: attempt.attempt_index,
        from,
        to,
        limit,
    }
}

/// Frames are read in pages of the same size as everything else.
fn check_limit(limit: Option<usize>) -> Result<usize> {
    PageRequest { cursor: None, limit }.limit()
}

/// Whichever rings first.
async fn first(one: OwnedNotified, other: Option<OwnedNotified>) {
    let Some(other) = other else { return one.await };
    match select(std::pin::pin!(one), std::pin::pin!(other)).await {
        Either::Left(_) | Either::Right(_) => {}
    }
}
