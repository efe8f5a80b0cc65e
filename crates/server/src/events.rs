//! Lifecycle events as server-sent events. A client that comes back with `Last-Event-ID` misses nothing.
//!
//! Each event is a message named after what happened; with `batch_ms`, those of an interval are one message named `batch`. What
//! ends the stream from this side is a message named `error` with the problem.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration as Span;

use axum::response::sse::{Event as SseEvent, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use ff_core::error::Rejection;
use ff_core::fabric::Fabric;
use ff_core::record::HistoryLine;
use ff_core::time::Duration;
use ff_core::token::SignedCursor;
use ff_core::view::{Event, Events, ReadEvents};
use ff_core::wire;
use futures::stream::unfold;
use serde::Serialize;

use crate::problem::Answer;
use crate::request::Asked;

/// Events read at once.
const PAGE: usize = 500;
/// How long one read waits; then the connection is still there, and it reads again.
const WAIT: Duration = Duration::from_secs(25);
/// The first read waits so short that nobody notices: who waits is served from what the process has read already.
const FIRST_WAIT: Duration = Duration::from_millis(1);
/// How long a browser waits before it connects again.
const RETRY: Span = Span::from_millis(1_000);
/// How often a silent stream shows that it is alive.
const HEARTBEAT: Span = Span::from_secs(15);

/// Sends what happens from where the request says on.
pub(crate) async fn follow(asked: &Asked) -> Answer<Response> {
    let fabric = asked.fabric();
    let mut request: ReadEvents = asked.command()?;
    // A browser that connects again asks for the same address, and knows better by now.
    if let Some(last) = asked.header("last-event-id")? {
        request.cursor = Some(SignedCursor::from_text(last));
        request.from = None;
    }
    request.limit.get_or_insert(PAGE);
    // A cursor that cannot be read is refused now, with a status; later there is only the stream to say it in.
    request.wait = FIRST_WAIT;
    let first = fabric.events(request.clone()).await?;
    let mut reader = Reader {
        fabric,
        ready: [SseEvent::default().retry(RETRY)].into(),
        request: ReadEvents {
            from: None,
            wait: WAIT,
            ..request
        },
        over: false,
    };
    reader.take(first);
    Ok(Sse::new(unfold(reader, next))
        .keep_alive(KeepAlive::new().interval(HEARTBEAT))
        .into_response())
}

/// One client on its way through the feed.
struct Reader {
    fabric: Arc<dyn Fabric>,
    ready: VecDeque<SseEvent>,
    request: ReadEvents,
    over: bool,
}

/// Events that were collected, as one message.
#[derive(Serialize)]
struct Batch<'e> {
    lines: Vec<&'e HistoryLine>,
    skipped: u64,
    cursor: &'e SignedCursor,
}

impl Reader {
    fn take(&mut self, events: Events) {
        if self.request.batch.is_none() {
            self.ready.extend(events.events.iter().map(single));
        } else if !events.events.is_empty() || events.skipped > 0 {
            self.ready.push_back(batch(&events));
        }
        self.request.cursor = Some(events.next);
    }
}

async fn next(mut reader: Reader) -> Option<(Result<SseEvent, Infallible>, Reader)> {
    loop {
        if let Some(event) = reader.ready.pop_front() {
            return Some((Ok(event), reader));
        }
        if reader.over {
            return None;
        }
        match reader.fabric.events(reader.request.clone()).await {
            Ok(events) => reader.take(events),
            Err(rejection) => {
                reader.over = true;
                reader.ready.push_back(refused(&rejection));
            }
        }
    }
}

fn single(event: &Event) -> SseEvent {
    let named = SseEvent::default()
        .id(event.cursor.expose())
        .event(event.line.what.as_str());
    told(named, &event.line)
}

fn batch(events: &Events) -> SseEvent {
    let batch = Batch {
        lines: events.events.iter().map(|event| &event.line).collect(),
        skipped: events.skipped,
        cursor: &events.next,
    };
    told(SseEvent::default().id(events.next.expose()).event("batch"), &batch)
}

fn told<T: Serialize>(event: SseEvent, what: &T) -> SseEvent {
    match wire::to_json(what).map(String::from_utf8) {
        Ok(Ok(json)) => event.data(json),
        Ok(Err(_)) | Err(_) => event.data("{}"),
    }
}

fn refused(rejection: &Rejection) -> SseEvent {
    told(SseEvent::default().event("error"), rejection)
}
