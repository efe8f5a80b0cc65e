//! `/events`: lifecycle events as server-sent events. A client that comes back with `Last-Event-ID` misses nothing.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event as SseEvent, KeepAlive};
use axum::routing::get;
use ff_core::error::{Code, Rejection};
use ff_core::id::FlowId;
use ff_core::name::{LaneId, Namespace};
use ff_core::time::Duration;
use ff_core::token::SignedCursor;
use ff_core::view::{Event, EventFilter, ReadEvents};
use futures::Stream;
use futures::stream::unfold;
use serde::Deserialize;

use crate::Shared;
use crate::error::Answer;

/// Events read at once.
const PAGE: usize = 500;
/// How long one read waits; then the connection is still there, and it reads again.
const WAIT: Duration = Duration::from_secs(25);

/// The routes of events.
pub(crate) fn events() -> Router<Shared> {
    Router::new().route("/events", get(follow))
}

/// Which events, and from where on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    cursor: Option<String>,
    namespace: Option<Namespace>,
    lane: Option<LaneId>,
    flow: Option<FlowId>,
    kind: Option<String>,
}

async fn follow(
    State(fabric): State<Shared>,
    headers: HeaderMap,
    wanted: Result<Query<Wanted>, axum::extract::rejection::QueryRejection>,
) -> Answer<Sse<impl Stream<Item = Result<SseEvent, Infallible>>>> {
    let Query(wanted) = wanted.map_err(|error| Code::InvalidInput.because(format!("the query: {error}")))?;
    let last = headers
        .get("last-event-id")
        .and_then(|id| id.to_str().ok())
        .map(str::to_owned);
    let request = ReadEvents {
        cursor: last.or(wanted.cursor).map(SignedCursor::from_text),
        filter: EventFilter {
            namespace: wanted.namespace,
            lane: wanted.lane,
            flow_id: wanted.flow,
            kind: wanted.kind,
        },
        limit: Some(PAGE),
        wait: Duration::ZERO,
    };
    // A cursor that cannot be read is refused now, with a status; later there is only the stream to say it in.
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
    Ok(Sse::new(unfold(reader, next)).keep_alive(KeepAlive::default()))
}

/// One client on its way through the feed.
struct Reader {
    fabric: Shared,
    ready: VecDeque<Event>,
    request: ReadEvents,
    over: bool,
}

async fn next(mut reader: Reader) -> Option<(Result<SseEvent, Infallible>, Reader)> {
    loop {
        if let Some(event) = reader.ready.pop_front() {
            return Some((Ok(told(&event)), reader));
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

fn told(event: &Event) -> SseEvent {
    let named = SseEvent::default()
        .id(event.cursor.expose())
        .event(event.line.what.as_str());
    match serde_json::to_string(&event.line) {
        Ok(data) => named.data(data),
        Err(error) => named.data(format!("{{\"error\":\"{error}\"}}")),
    }
}

fn refused(rejection: &Rejection) -> SseEvent {
    let problem = serde_json::json!({ "code": rejection.code.as_str(), "detail": rejection.detail });
    SseEvent::default().event("error").data(problem.to_string())
}
