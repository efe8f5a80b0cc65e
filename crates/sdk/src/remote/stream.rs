//! Streams that go on where they broke.

use std::collections::VecDeque;

use ff_core::error::Rejection;
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::view::ReadEvents;
use ff_core::wire::{self, Fields};
use futures::stream::{Stream, unfold};
use reqwest::{Method, Response, header};

use super::request::in_path;
use super::sse::{Message, Parser};
use super::{Remote, reply, retry};

/// The name of the message that says why a stream ends.
const ERROR: &str = "error";
/// The name of the message after which nothing comes.
const END: &str = "end";

/// A stream of messages from the server.
pub struct Messages {
    client: Remote,
    path_and_query: String,
    /// The id of the last message that had one.
    last_id: Option<String>,
    connection: Option<(Response, Parser)>,
    ready: VecDeque<Message>,
    over: bool,
}

impl Remote {
    /// What all attempts of an execution put out, as it comes, from the beginning or after the message with this id.
    pub fn follow_output(&self, execution_id: ExecutionId, after: Option<String>) -> Messages {
        self.follow(
            format!("/executions/{}/stream", in_path(&execution_id.to_string())),
            after,
        )
    }

    /// What happens, as it happens.
    pub fn follow_events(&self, request: &ReadEvents) -> Result<Messages> {
        let unwritable = |error: serde_json::Error| ff_core::error::Code::Internal.because(error.to_string());
        let json = wire::to_json(request).map_err(unwritable)?;
        let pairs = Fields::of_json(&json)?.into_texts()?;
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(pairs)
            .finish();
        Ok(self.follow(format!("/events?{query}"), None))
    }

    fn follow(&self, path_and_query: String, after: Option<String>) -> Messages {
        Messages {
            client: self.clone(),
            path_and_query,
            last_id: after,
            connection: None,
            ready: VecDeque::new(),
            over: false,
        }
    }
}

impl Messages {
    /// The next message; `None` after the last one. A broken connection is opened again, and goes on after what was seen.
    pub async fn next(&mut self) -> Option<Result<Message>> {
        let mut pauses = retry::pauses(self.client.tries);
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(self.pass(message));
            }
            if self.over {
                return None;
            }
            let failure = match self.read_on().await {
                Ok(()) => continue,
                Err(failure) => failure,
            };
            self.connection = None;
            let is_refused = matches!(&failure, retry::Failure::Refused(refusal) if !refusal.code.retryable());
            match pauses.next() {
                Some(pause) if !is_refused => tokio::time::sleep(pause).await,
                _ => {
                    self.over = true;
                    return Some(Err(failure.into_rejection(&self.client.server.url)));
                }
            }
        }
    }

    /// The same as a stream.
    pub fn into_stream(self) -> impl Stream<Item = Result<Message>> + Send {
        unfold(self, |mut messages| async move {
            messages.next().await.map(|message| (message, messages))
        })
    }

    fn pass(&mut self, message: Message) -> Result<Message> {
        if message.id.is_some() {
            self.last_id.clone_from(&message.id);
        }
        if message.event == ERROR {
            self.connection = None;
            let refusal: Option<Rejection> = serde_json::from_str(&message.data).ok();
            if let Some(refusal) = refusal.filter(|refusal| !refusal.code.retryable()) {
                self.over = true;
                return Err(refusal);
            }
        }
        self.over |= message.event == END;
        Ok(message)
    }

    /// Waits for more bytes, over a new connection if there is none.
    async fn read_on(&mut self) -> std::result::Result<(), retry::Failure> {
        let (response, parser) = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert((
                open(&self.client, &self.path_and_query, self.last_id.as_deref()).await?,
                Parser::default(),
            )),
        };
        match response.chunk().await.map_err(retry::Failure::Unanswered)? {
            Some(bytes) => parser.take(&bytes, &mut self.ready),
            // The server lets go of its streams when it stops: another one goes on.
            None => self.connection = None,
        }
        Ok(())
    }
}

async fn open(
    client: &Remote,
    path_and_query: &str,
    last_id: Option<&str>,
) -> std::result::Result<Response, retry::Failure> {
    let mut request = client
        .request(Method::GET, path_and_query)
        .header(header::ACCEPT, "text/event-stream");
    if let Some(id) = last_id {
        request = request.header("last-event-id", id);
    }
    let response = request.send().await.map_err(retry::Failure::Unanswered)?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let body = response.bytes().await.map_err(retry::Failure::Unanswered)?;
    Err(retry::Failure::Refused(reply::refusal(status, &body)))
}
