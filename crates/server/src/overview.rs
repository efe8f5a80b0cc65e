//! An overview as server-sent events: all of it at once, and again whenever it is another one.
//!
//! Each message is named `overview`. What ends the stream from this side is a message named `error` with the problem.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration as Span;

use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use ff_core::error::Rejection;
use ff_core::fabric::Fabric;
use ff_core::time::Duration;
use ff_core::view::{Overview, ReadOverview};
use ff_core::wire;
use futures::stream::unfold;
use serde::Serialize;

use crate::problem::Answer;
use crate::request::Asked;

/// How long one look waits; then it looks again, which reads nothing.
const WAIT: Duration = Duration::from_secs(25);
/// How long a browser waits before it connects again.
const RETRY: Span = Span::from_secs(1);
/// How often a silent stream shows that it is alive.
const HEARTBEAT: Span = Span::from_secs(15);

/// Sends how a namespace fares, and how it fares then.
pub(crate) async fn follow(asked: &Asked) -> Answer<Response> {
    let fabric = asked.fabric();
    let request: ReadOverview = asked.command()?;
    // What is refused now has a status, later there is only the stream to say it in.
    let first = fabric
        .overview(ReadOverview {
            wait: Duration::ZERO,
            ..request.clone()
        })
        .await?;
    let viewer = Viewer {
        fabric,
        request: ReadOverview { wait: WAIT, ..request },
        next: Some(Ok(first)),
        is_over: false,
    };
    let events = Sse::new(unfold(viewer, next)).keep_alive(KeepAlive::new().interval(HEARTBEAT));
    Ok(events.into_response())
}

/// One client.
struct Viewer {
    fabric: Arc<dyn Fabric>,
    request: ReadOverview,
    /// What was read and not sent yet.
    next: Option<Result<Overview, Rejection>>,
    is_over: bool,
}

async fn next(mut viewer: Viewer) -> Option<(Result<Event, Infallible>, Viewer)> {
    if viewer.is_over {
        return None;
    }
    loop {
        let seen = match viewer.next.take() {
            Some(seen) => seen,
            None => viewer.fabric.overview(viewer.request.clone()).await,
        };
        match seen {
            Ok(same) if viewer.request.after == Some(same.as_of) => {}
            Ok(overview) => {
                viewer.request.after = Some(overview.as_of);
                return Some((Ok(told("overview", &overview).retry(RETRY)), viewer));
            }
            Err(refused) => {
                viewer.is_over = true;
                return Some((Ok(told("error", &refused)), viewer));
            }
        }
    }
}

fn told<T: Serialize>(what: &str, about: &T) -> Event {
    let json = wire::to_json(about).ok().and_then(|json| String::from_utf8(json).ok());
    Event::default()
        .event(what)
        .data(json.unwrap_or_else(|| "{}".to_owned()))
}
