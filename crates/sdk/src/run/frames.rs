//! What an execution puts out while it runs, attempt after attempt.

use std::collections::VecDeque;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};

use ff_core::command::stream::{AttemptRef, StreamPage, TailStream};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Fabric, On};
use ff_core::frame::{Frame, FrameId};
use ff_core::name::FrameType;
use ff_core::payload::Payload;
use ff_core::time::Duration;
use futures::StreamExt;
use futures::stream::{BoxStream, Stream, unfold};
use serde::de::DeserializeOwned;

use super::Run;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::json;
use crate::patience::Patience;

/// How long one call waits: less than what a server allows.
const WAIT: Duration = Duration::from_secs(25);
/// Frames read at once.
const PAGE: usize = 500;

/// A frame with the attempt that put it out.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFrame {
    /// Which attempt, from 0. A handler that starts again puts out its frames again, under the next one.
    pub attempt: u32,
    /// Its place among those of the attempt.
    pub id: FrameId,
    /// What kind of frame, in the worker's words.
    pub frame_type: FrameType,
    /// Its bytes, as the codec gave them back.
    pub payload: Payload,
    /// What it belongs to, in the worker's words.
    pub correlation_id: Option<String>,
}

impl RunFrame {
    /// The value in it.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        let what = || {
            format!(
                "frame {} of attempt {}, of type {},",
                self.id, self.attempt, self.frame_type
            )
        };
        json::read(&self.payload).map_err(|problem| Error::Unreadable { what: what(), problem })
    }
}

/// Asks for frames: from the beginning, or after one that was seen. Await it.
#[must_use = "nothing is read until it is awaited"]
pub struct ReadFrames {
    reader: Reader,
}

impl ReadFrames {
    /// Goes on after this frame of this attempt.
    pub fn after(mut self, attempt: u32, frame: FrameId) -> Self {
        (self.reader.at.attempt_index, self.reader.after) = (attempt, Some(frame));
        self
    }

    /// Only frames of this type; of every type unless said.
    pub fn of_type(mut self, frame_type: impl Into<String>) -> Self {
        self.reader.only = Some(frame_type.into());
        self
    }
}

impl IntoFuture for ReadFrames {
    type Output = Result<Frames>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    /// Looks once, so that what is refused is refused here.
    fn into_future(self) -> Self::IntoFuture {
        let mut reader = self.reader;
        Box::pin(async move {
            reader.look(Duration::ZERO).await?;
            let frames = unfold(reader, |mut reader| async move { Some((reader.next().await?, reader)) });
            Ok(Frames { frames: frames.boxed() })
        })
    }
}

/// The frames of every attempt, as they come; the stream ends with the execution. A lost connection is opened again.
pub struct Frames {
    frames: BoxStream<'static, Result<RunFrame>>,
}

impl Frames {
    /// The next frame; `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<RunFrame>> {
        self.frames.next().await
    }
}

impl Stream for Frames {
    type Item = Result<RunFrame>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.frames.poll_next_unpin(context)
    }
}

impl<O> Run<O> {
    /// What it puts out: the frames of every attempt, from the first, as they come.
    pub fn frames(&self) -> ReadFrames {
        ReadFrames {
            reader: Reader {
                client: self.client.clone(),
                at: AttemptRef {
                    execution_id: self.id,
                    attempt_index: 0,
                },
                after: None,
                only: None,
                ready: VecDeque::new(),
                is_over: false,
                patience: Patience::default(),
            },
        }
    }
}

/// Somebody on the way through the frames.
struct Reader {
    client: Client,
    at: AttemptRef,
    /// The last frame seen of the attempt: whatever is read again begins after it, so no frame comes twice.
    after: Option<FrameId>,
    /// The one type of frames that is asked for.
    only: Option<String>,
    ready: VecDeque<(u32, Frame)>,
    is_over: bool,
    patience: Patience,
}

impl Reader {
    async fn next(&mut self) -> Option<Result<RunFrame>> {
        loop {
            if let Some((attempt, frame)) = self.ready.pop_front() {
                return Some(self.open(attempt, frame).await);
            }
            if self.is_over {
                return None;
            }
            if let Err(error) = self.look(WAIT).await {
                self.is_over = true;
                return Some(Err(error));
            }
        }
    }

    /// Looks for frames until there is an answer.
    async fn look(&mut self, wait: Duration) -> Result<()> {
        loop {
            let tail = TailStream {
                after: self.after,
                wait,
                limit: Some(PAGE),
            };
            let refusal = match self.client.tail_stream(On::new(self.at, tail)).await {
                Ok(page) => {
                    self.take(page);
                    break;
                }
                Err(refusal) => refusal,
            };
            if is_last(&refusal) {
                self.is_over = true;
                break;
            }
            if is_to_come(&refusal) {
                break;
            }
            self.patience.after(refusal).await?;
        }
        self.patience.restore();
        Ok(())
    }

    fn take(&mut self, page: StreamPage) {
        let attempt = self.at.attempt_index;
        self.after = page.frames.last().map(|frame| frame.id).or(self.after);
        let only = self.only.as_deref();
        let is_asked_for = |frame: &Frame| only.is_none_or(|only| frame.frame_type.as_str() == only);
        let frames = page.frames.into_iter().filter(is_asked_for);
        self.ready.extend(frames.map(|frame| (attempt, frame)));
        if page.closed.is_some() {
            self.at.attempt_index += 1;
            self.after = None;
        }
    }

    async fn open(&self, attempt: u32, frame: Frame) -> Result<RunFrame> {
        let what = format!("frame {} of execution {}", frame.id, self.at.execution_id);
        Ok(RunFrame {
            attempt,
            id: frame.id,
            frame_type: frame.frame_type,
            payload: self.client.unseal(&what, frame.payload).await?,
            correlation_id: frame.correlation_id,
        })
    }
}

/// There is no such attempt, and there will be none.
fn is_last(refusal: &Rejection) -> bool {
    refusal.code == Code::AttemptNotFound && refusal.fields.contains_key("public_state")
}

/// There is no such attempt yet.
fn is_to_come(refusal: &Rejection) -> bool {
    refusal.code == Code::AttemptNotFound && refusal.fields.contains_key("next_attempt_index")
}
