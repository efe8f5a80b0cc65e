//! Lifecycle events as server-sent events. A client that comes back with `Last-Event-ID` misses nothing.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::response::sse::{Event as SseEvent, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use ff_core::error::Rejection;
use ff_core::fabric::Fabric;
use ff_core::time::Duration;
use ff_core::token::SignedCursor;
use ff_core::view::{Event, ReadEvents};
use ff_core::wire;
use futures::stream::unfold;

use crate::problem::Answer;
use crate::request::Received;

/// Events read at once.
const PAGE: usize = 500;
/// How long one read waits; then the connection is still there, and it reads again.
const WAIT: Duration = Duration::from_secs(25);

/// Sends what happens from where the request says on.
pub(crate) async fn follow(fabric: Arc<dyn Fabric>, received: &Received) -> Answer<Response> {
    let mut request: ReadEvents = received.command()?;
    let last = received.headers.get("last-event-id").and_then(|id| id.to_str().ok());
    request.cursor = last.map(SignedCursor::from_text).or(request.cursor);
    request.limit.get_or_insert(PAGE);
    // A cursor that cannot be read is refused now, with a status; later there is only the stream to say it in.
    request.wait = Duration::ZERO;
    let first = fabric.events(request.clone()).await?;
    let reader = Reader {
        fabric,
        ready: first.events.into(),
        request: ReadEvents {
            cursor: Some(first.next),
            wait: WAIT,
            ..request
        },
        over: false,
    };
    Ok(Sse::new(unfold(reader, next))
        .keep_alive(KeepAlive::default())
        .into_response())
}

/// One client on its way through the feed.
struct Reader {
    fabric: Arc<dyn Fabric>,
    ready: VecDeque<Event>,
    request: ReadEvents,
    over: bool,
}

async fn next(mut reader: Reader) -> Option<(Result<SseEvent, Infallible>, Reader)> {
    loop {
        if let Some(event) = reader.ready.pop_front() {
            let named = SseEvent::default()
                .id(event.cursor.expose())
                .event(event.line.what.as_str());
            return Some((Ok(told(named, &event.line)), reader));
        }
        if reader.over {
            return None;
        }
        match reader.fabric.events(reader.request.clone()).await {
            Ok(events) => {
                reader.ready = events.events.into();
                reader.request.cursor = Some(events.next);
            }
            Err(rejection) => {
                reader.over = true;
                return Some((Ok(refused(&rejection)), reader));
            }
        }
    }
}

fn told<T: serde::Serialize>(event: SseEvent, what: &T) -> SseEvent {
    match wire::to_json(what).map(String::from_utf8) {
        Ok(Ok(json)) => event.data(json),
        Ok(Err(_)) | Err(_) => event.data("{}"),
    }
}

fn refused(rejection: &Rejection) -> SseEvent {
    told(SseEvent::default().event("error"), rejection)
}
