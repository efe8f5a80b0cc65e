//! Telling what happens, from the durable feed of events and the output streams.

use ff_core::command::stream::{AttemptRef, ReadStream};
use ff_core::fabric::{Fabric, On};
use ff_core::frame::FrameBound;
use ff_core::id::ExecutionId;
use ff_core::payload::Payload;
use ff_core::record::{Actor, HistoryLine, HistorySubject};
use ff_core::time::Duration;
use ff_core::token::SignedCursor;
use ff_core::view::{EventsFrom, GetResult, ReadEvents};
use ff_engine::Engine;

use crate::say;

/// The place in the feed after everything that has happened so far.
pub(crate) async fn from_now(engine: &Engine) -> anyhow::Result<SignedCursor> {
    let from_now = ReadEvents {
        from: Some(EventsFrom::Now),
        ..ReadEvents::default()
    };
    Ok(engine.events(from_now).await?.next)
}

/// Tells every event after `cursor` until it is aborted.
pub(crate) async fn events(engine: Engine, cursor: SignedCursor) {
    let mut request = ReadEvents {
        cursor: Some(cursor),
        wait: Duration::from_secs(20),
        ..ReadEvents::default()
    };
    loop {
        match engine.events(request.clone()).await {
            Ok(page) => {
                page.events.iter().for_each(|event| tell(&event.line));
                request.cursor = Some(page.next);
            }
            Err(refused) => return tracing::warn!(%refused, "the feed of events cannot be read"),
        }
    }
}

fn tell(line: &HistoryLine) {
    let subject = match line.subject {
        HistorySubject::Execution(id) => short(id),
        HistorySubject::Flow(id) => id.to_string(),
    };
    let actor = match &line.actor {
        Actor::Engine => "engine",
        Actor::Worker(instance) => instance.as_str(),
        Actor::Client(identity) => identity.as_str(),
        Actor::Anonymous => "client",
    };
    let detail = line
        .detail
        .as_deref()
        .map_or_else(String::new, |detail| format!("  ({detail})"));
    let what = line.what.as_str();
    say::line(format_args!(
        "  {subject}  {kind:<10}  {what:<16}  by {actor}{detail}",
        kind = line.kind
    ));
}

/// What the executions wrote, and what came of them.
pub(crate) async fn output(engine: &Engine, ids: &[ExecutionId]) -> anyhow::Result<()> {
    say::line("\nWhat they streamed and returned:\n");
    for id in ids {
        let view = engine.get_execution(*id).await?;
        let attempt = AttemptRef {
            execution_id: *id,
            attempt_index: view.attempt_index.unwrap_or(0),
        };
        let everything = ReadStream {
            from: FrameBound::Start,
            to: FrameBound::End,
            limit: None,
        };
        let page = engine.read_stream(On::new(attempt, everything)).await?;
        let words: Vec<_> = page.frames.iter().map(|frame| text(&frame.payload)).collect();
        let result = engine.get_result(On::new(*id, GetResult::default())).await?;
        let result = text(&result);
        let (state, attempts) = (view.state.public_state, view.attempt_count);
        say::line(format_args!("  {}  {state} after {attempts} attempt(s)", short(*id)));
        say::line(format_args!("            frames {}", words.join(", ")));
        say::line(format_args!("            result {result}"));
    }
    Ok(())
}

/// Bytes for the terminal: as they are, if they are text.
fn text(payload: &Payload) -> &str {
    std::str::from_utf8(&payload.bytes).unwrap_or("(not text)")
}

/// Enough of an id to tell a few apart: its end, because the beginning is the time.
fn short(id: ExecutionId) -> String {
    let text = id.uuid().to_string();
    text[text.len() - 8..].to_owned()
}
