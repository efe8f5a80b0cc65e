//! Streams end with the key they were opened with.
//!
//! Whatever a stream tells is told to somebody whose key is good at that moment: it is looked up before each message, in what the
//! process remembers. A stream that has nothing to tell costs nothing, and ends when the process hears of a change.

use std::pin::Pin;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::header;
use axum::response::Response;
use ff_core::error::Rejection;
use ff_engine::{Credential, Engine};
use futures::future::{Either, select};
use futures::stream::{StreamExt, unfold};

/// An answer that ends once its caller's credential is worth nothing, if it is a stream of events.
pub(crate) fn until_revoked(engine: &Engine, shown: Credential, response: Response) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE);
    if kind.is_none_or(|kind| !kind.as_bytes().starts_with(b"text/event-stream")) {
        return response;
    }
    let engine = engine.clone();
    response.map(|body| {
        let told = Told {
            changed: Box::pin(engine.keys_changed()),
            events: body.into_data_stream(),
            engine,
            shown,
            is_over: false,
        };
        Body::from_stream(unfold(told, next))
    })
}

/// A stream of events on its way to whoever showed a credential.
struct Told {
    engine: Engine,
    shown: Credential,
    /// Keys may be others.
    changed: Pin<Box<dyn Future<Output = ()> + Send>>,
    events: BodyDataStream,
    is_over: bool,
}

async fn next(mut told: Told) -> Option<(Result<Bytes, axum::Error>, Told)> {
    if told.is_over {
        return None;
    }
    loop {
        let event = match select(&mut told.changed, told.events.next()).await {
            Either::Left(_) => None,
            Either::Right((event, _)) => Some(event?),
        };
        match event {
            // That it is still there it says to anybody.
            Some(Ok(heartbeat)) if heartbeat.starts_with(b":") => return Some((Ok(heartbeat), told)),
            None => told.changed = Box::pin(told.engine.keys_changed()),
            Some(_) => {}
        }
        if let Err(refused) = told.engine.still_caller_by(&told.shown).await {
            told.is_over = true;
            return Some((Ok(last(&refused)), told));
        }
        if let Some(event) = event {
            return Some((event, told));
        }
    }
}

fn last(refused: &Rejection) -> Bytes {
    let problem = serde_json::to_string(refused).unwrap_or_default();
    format!("event: error\ndata: {problem}\n\n").into()
}
