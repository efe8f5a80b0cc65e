//! Reading the output of attempts: read_stream, tail_stream, read_summary.

use ff_backend::frames::{FrameRange, Frames};
use ff_backend::load::Load;
use ff_core::command::page::PageRequest;
use ff_core::command::stream::{AttemptRef, ReadStream, StreamEnd, StreamPage, TailStream};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{On, Result};
use ff_core::frame::FrameId;
use ff_core::machine::decided::ClosedReason;
use ff_core::name::ContentType;
use ff_core::payload::Payload;
use ff_core::record::{Execution, RecordKey};
use ff_core::state::public_state;
use ff_core::time::Timestamp;
use futures::future::{Either, select};
use tokio::sync::futures::OwnedNotified;

use super::reads::attempt_in;
use crate::engine::Engine;
use crate::waiters::Waiter;

/// Says of a missing attempt that it is the one an open execution would start next.
const NEXT: &str = "next_attempt_index";

type Closed = Option<(Timestamp, ClosedReason)>;

pub(crate) async fn read_stream(engine: &Engine, request: On<AttemptRef, ReadStream>) -> Result<StreamPage> {
    let On { id, command } = request;
    let limit = check_limit(command.limit)?;
    stream_page(engine, range(id, command.from.as_from(), command.to.as_to(), limit)).await
}

pub(crate) async fn tail_stream(engine: &Engine, request: On<AttemptRef, TailStream>) -> Result<StreamPage> {
    let On { id, command } = request;
    let mut watch = engine.watch(command.wait)?;
    let from = command.after.map_or(FrameId::START, FrameId::after);
    let range = range(id, from, FrameId::END, check_limit(command.limit)?);
    let stream = engine.shared.streams.join(id);
    // A stream that never had a frame ends without a hint of its own. The history says it then, and whoever has seen
    // a frame need not listen to it.
    let partition = id.execution_id.partition();
    let feed = command.after.is_none().then(|| engine.shared.feeds.join(partition));
    let mut awaited = false;
    loop {
        let wake = first(stream.next_wake(), feed.as_ref().map(Waiter::next_wake));
        let page = match stream_page(engine, range.clone()).await {
            Ok(page) => page,
            Err(refused) if feed.is_some() && may_start(&refused) && watch.wait(wake).await? => {
                awaited = true;
                continue;
            }
            Err(refused) => return Err(refused),
        };
        // That the attempt has started is news, too.
        if awaited || !page.frames.is_empty() || page.closed.is_some() || !watch.wait(wake).await? {
            return Ok(page);
        }
    }
}

/// Whether an attempt is missing that an open execution may still start.
fn may_start(refused: &Rejection) -> bool {
    refused.code == Code::AttemptNotFound && refused.fields.contains_key(NEXT)
}

pub(crate) async fn read_summary(engine: &Engine, attempt: AttemptRef) -> Result<Option<Payload>> {
    let nothing = range(attempt, FrameId::END, FrameId::END, 1);
    let (_, frames) = read_frames(engine, nothing).await?;
    Ok(frames.summary.map(|(document, _)| Payload {
        bytes: document,
        content_type: ContentType::json(),
    }))
}

/// Part of a stream. Its end is told with its last frame: whoever is told goes away, and would miss what follows.
async fn stream_page(engine: &Engine, range: FrameRange) -> Result<StreamPage> {
    let (closed, frames) = read_frames(engine, range.clone()).await?;
    let end = |(closed_at, closed_reason)| StreamEnd {
        closed_at,
        closed_reason,
    };
    let mut page = StreamPage {
        closed: frames.closed.or(closed).map(end),
        frames: frames.frames,
    };
    if page.closed.is_some() && goes_on(engine, range, &page).await? {
        page.closed = None;
    }
    Ok(page)
}

/// Whether a stream that has ended has frames after those of a page.
async fn goes_on(engine: &Engine, range: FrameRange, page: &StreamPage) -> Result<bool> {
    let cut = page.frames.last().filter(|_| page.frames.len() >= range.limit);
    let seen = cut.map_or(range.to, |last| last.id);
    if seen == FrameId::END {
        return Ok(false);
    }
    let rest = FrameRange {
        from: seen.after(),
        to: FrameId::END,
        limit: 1,
        ..range
    };
    Ok(!engine.store().read(rest).await?.frames.is_empty())
}

/// Frames, and how the attempt itself says that it ended: the stream says so only if it ever had a frame.
///
/// The attempt is read first. One that has ended gets no more frames, so none is missing beside its end.
async fn read_frames(engine: &Engine, range: FrameRange) -> Result<(Closed, Frames)> {
    let (id, index) = (range.execution_id, range.attempt_index);
    engine.check_id(id)?;
    let keys = [RecordKey::Execution(id), RecordKey::Attempt(id, index)];
    let snapshot = engine.store().load(Load::records(id.partition(), keys)).await?;
    let execution = engine.visible(&snapshot, id)?;
    let attempt = attempt_in(&snapshot, execution, index).ok_or_else(|| no_attempt(execution, index))?;
    let closed = attempt.end.as_ref().map(|end| (end.at, end.closed));
    Ok((closed, engine.store().read(range).await?))
}

/// The answer for an attempt that is not there. Who follows attempt after attempt is told whether it may still start, or that
/// there will be none.
fn no_attempt(execution: &Execution, index: u32) -> Rejection {
    let id = execution.id;
    let refused = Code::AttemptNotFound.because(format!("execution {id} has no attempt {index}"));
    let next = execution.attempt.as_ref().map_or(0, |attempt| attempt.index + 1);
    match execution.is_terminal() {
        true => refused.with("public_state", public_state(execution).as_str()),
        false if index == next => refused.with(NEXT, index),
        false => refused,
    }
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

/// Whichever wakes first.
async fn first(one: OwnedNotified, other: Option<OwnedNotified>) {
    let Some(other) = other else { return one.await };
    match select(std::pin::pin!(one), std::pin::pin!(other)).await {
        Either::Left(_) | Either::Right(_) => {}
    }
}
