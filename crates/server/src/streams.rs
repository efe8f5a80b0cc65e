//! Frames as server-sent events: of one attempt, or of every attempt of an execution, one after the other.
//!
//! An attempt's stream is closed in the commit that ends it, so whoever has read it to its end goes on with the next attempt.
//! A client that comes back with `Last-Event-ID` misses nothing that is still kept.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration as Std;

use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use ff_core::command::stream::{AttemptRef, ReadStream, StreamPage, TailStream};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::types::ExecutionId;
use ff_core::fabric::{Fabric, On};
use ff_core::frame::{FrameBound, FrameId};
use ff_core::time::Duration;
use ff_core::wire;
use futures::stream::unfold;
use serde::Serialize;
use serde_json::json;

use crate::problem::Answer;
use crate::request::Asked;

/// Frames read at once.
const PAGE: usize = 500;
/// How long one look waits; then the connection is still there, and it looks again. That costs the store something, and nothing
/// is missed without it.
const WAIT: Duration = Duration::from_secs(3_600);
/// How often a silent stream says that it is there.
const HEARTBEAT: Std = Std::from_secs(15);
/// How soon a client whose connection broke should be back.
const RETRY: Std = Std::from_secs(1);

/// `GET /executions/{execution_id}/stream`: the frames of every attempt.
pub(crate) async fn follow(asked: Asked) -> Answer<Response> {
    let execution_id: ExecutionId = asked.path_values().next().unwrap_or_default().parse()?;
    let last = asked.header("last-event-id")?.map(place).transpose()?;
    let (attempt_index, after) = last.unwrap_or((0, None));
    let reader = Reader {
        all: true,
        announced: last.is_some(),
        ..Reader::new(
            &asked,
            AttemptRef {
                execution_id,
                attempt_index,
            },
            after,
        )
    };
    reader.into_response(&asked).await
}

/// `GET …/attempts/{attempt_index}/stream/tail`: the frames of one attempt.
pub(crate) async fn tail(asked: &Asked) -> Answer<Response> {
    let On { id, command }: On<AttemptRef, TailStream> = asked.command()?;
    let last = asked.header("last-event-id")?.map(str::parse).transpose()?;
    Reader::new(asked, id, last.or(command.after))
        .into_response(asked)
        .await
}

/// Reads `<attempt>/<ms>-<seq>`, the place after which a reader of all attempts goes on.
fn place(text: &str) -> Result<(u32, Option<FrameId>), Rejection> {
    let read = || {
        let (index, frame) = text.split_once('/')?;
        Some((index.parse().ok()?, frame.parse().ok()?))
    };
    let invalid = || Code::InvalidInput.because("Last-Event-ID must be that of an event: <attempt>/<ms>-<seq>");
    let (index, frame) = read().ok_or_else(invalid)?;
    Ok((index, Some(frame).filter(|frame| *frame != FrameId::START)))
}

/// One client on its way through the frames.
struct Reader {
    fabric: Arc<dyn Fabric>,
    at: AttemptRef,
    after: Option<FrameId>,
    /// Whether it goes on with the next attempt.
    all: bool,
    /// Whether the client was told of the attempt.
    announced: bool,
    /// Whether frames may have been trimmed that were not seen.
    behind: bool,
    ready: VecDeque<Event>,
    over: bool,
}

impl Reader {
    fn new(asked: &Asked, at: AttemptRef, after: Option<FrameId>) -> Self {
        Self {
            fabric: Arc::new(asked.engine().waiting_up_to(WAIT)),
            at,
            after,
            all: false,
            announced: true,
            behind: after.is_some(),
            ready: VecDeque::from([Event::default().retry(RETRY)]),
            over: false,
        }
    }

    /// Looks once before it answers: what is refused now has a status, later there is only the stream to say it in.
    async fn into_response(mut self, asked: &Asked) -> Answer<Response> {
        let permit = asked.server.limits.stream(&asked.caller)?;
        self.look(Duration::ZERO).await?;
        let events = Sse::new(unfold(self, next)).keep_alive(KeepAlive::new().interval(HEARTBEAT));
        Ok(permit.held_by(events.into_response()))
    }

    async fn look(&mut self, wait: Duration) -> Result<(), Rejection> {
        if std::mem::take(&mut self.behind) {
            self.tell_gap().await?;
        }
        let tail = TailStream {
            after: self.after,
            wait,
            limit: Some(PAGE),
        };
        match self.fabric.tail_stream(On::new(self.at, tail)).await {
            Ok(page) => self.take(page),
            Err(refused) if self.all && refused.code == Code::AttemptNotFound => self.await_attempt(refused)?,
            Err(refused) => return Err(refused),
        }
        Ok(())
    }

    /// Frames are trimmed from the oldest on: where the last one seen is gone, others after it may be, too.
    async fn tell_gap(&mut self) -> Result<(), Rejection> {
        let Some(seen) = self.after else { return Ok(()) };
        let only = ReadStream {
            from: FrameBound::Id(seen),
            to: FrameBound::Id(seen),
            limit: Some(1),
        };
        if self.fabric.read_stream(On::new(self.at, only)).await?.frames.is_empty() {
            self.tell("gap", &json!({ "attempt_index": self.at.attempt_index, "after": seen }));
        }
        Ok(())
    }

    fn take(&mut self, page: StreamPage) {
        if !std::mem::replace(&mut self.announced, true) {
            let told = told(&json!({ "attempt_index": self.at.attempt_index }));
            self.ready.push_back(told.event("attempt").id(self.id(FrameId::START)));
        }
        self.behind = page.frames.len() == PAGE;
        for frame in page.frames {
            self.after = Some(frame.id);
            self.ready.push_back(told(&frame).event("frame").id(self.id(frame.id)));
        }
        match page.closed {
            None => {}
            Some(_) if self.all => {
                self.at.attempt_index += 1;
                (self.after, self.announced, self.behind) = (None, false, false);
            }
            Some(end) => self.end(&end),
        }
    }

    /// There is no such attempt yet, or there will be none.
    fn await_attempt(&mut self, refused: Rejection) -> Result<(), Rejection> {
        if let Some(state) = refused.fields.get("public_state") {
            self.end(&json!({ "public_state": state }));
            return Ok(());
        }
        if refused.fields.contains_key("next_attempt_index") {
            Ok(())
        } else {
            Err(refused)
        }
    }

    fn end<T: Serialize>(&mut self, end: &T) {
        self.tell("end", end);
        self.over = true;
    }

    fn tell<T: Serialize>(&mut self, what: &str, about: &T) {
        self.ready.push_back(told(about).event(what));
    }

    fn id(&self, frame: FrameId) -> String {
        match self.all {
            true => format!("{}/{frame}", self.at.attempt_index),
            false => frame.to_string(),
        }
    }
}

async fn next(mut reader: Reader) -> Option<(Result<Event, Infallible>, Reader)> {
    loop {
        if let Some(event) = reader.ready.pop_front() {
            return Some((Ok(event), reader));
        }
        if reader.over {
            return None;
        }
        if let Err(refused) = reader.look(WAIT).await {
            reader.tell("error", &refused);
            reader.over = true;
        }
    }
}

fn told<T: Serialize>(what: &T) -> Event {
    let json = wire::to_json(what).ok().and_then(|json| String::from_utf8(json).ok());
    Event::default().data(json.unwrap_or_else(|| "{}".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_an_attempt_and_a_frame() {
        assert_eq!(place("3/17-2").unwrap(), (3, Some("17-2".parse().unwrap())));
        assert_eq!(place("3/0-0").unwrap(), (3, None));
        for bad in ["", "3", "17-2", "x/17-2", "3/17", "3/17-2/1", "-1/17-2"] {
            assert_eq!(place(bad).unwrap_err().code, Code::InvalidInput, "{bad}");
        }
    }
}
