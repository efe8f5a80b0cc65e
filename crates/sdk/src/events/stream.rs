//! A reader on its way through the feed.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use ff_core::error::Code;
use ff_core::time::Duration;
use ff_core::token::SignedCursor;
use ff_core::view::{Event, EventsFrom, ReadEvents};
use futures::StreamExt;
use futures::stream::{BoxStream, Stream, unfold};

use super::Observed;
use crate::client::Client;
use crate::error::Result;
use crate::patience::Patience;

/// How long one call waits: less than what a server allows.
const WAIT: Duration = Duration::from_secs(25);
/// The first call waits so short that nobody notices: who waits is served from what the engine has read already.
const FIRST_WAIT: Duration = Duration::from_millis(1);
/// Events read at once.
const PAGE: usize = 500;

/// Events as they happen. It has no end: whoever has seen enough drops it.
pub struct EventStream {
    events: BoxStream<'static, Result<Observed>>,
}

impl EventStream {
    /// Reads once, so that the place to begin is fixed, and what is refused is refused here.
    pub(super) async fn open(client: Client, request: ReadEvents) -> Result<Self> {
        let mut reader = Reader {
            client,
            request: ReadEvents {
                limit: Some(PAGE),
                ..request
            },
            ready: VecDeque::new(),
            is_over: false,
            patience: Patience::default(),
        };
        reader.read(FIRST_WAIT).await?;
        let events = unfold(reader, |mut reader| async move { Some((reader.next().await?, reader)) });
        Ok(Self { events: events.boxed() })
    }

    /// The next event. `None` after an error.
    pub async fn next(&mut self) -> Option<Result<Observed>> {
        self.events.next().await
    }
}

impl Stream for EventStream {
    type Item = Result<Observed>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.poll_next_unpin(context)
    }
}

struct Reader {
    client: Client,
    request: ReadEvents,
    ready: VecDeque<Observed>,
    is_over: bool,
    patience: Patience,
}

impl Reader {
    async fn next(&mut self) -> Option<Result<Observed>> {
        loop {
            if let Some(observed) = self.ready.pop_front() {
                return Some(Ok(observed));
            }
            if self.is_over {
                return None;
            }
            let refusal = match self.read(WAIT).await {
                Ok(()) => {
                    self.patience.restore();
                    continue;
                }
                Err(refusal) => refusal,
            };
            // Only who was reading already has missed something.
            if refusal.code == Code::CursorExpired && self.request.cursor.is_some() {
                self.begin_again();
                continue;
            }
            if let Err(refusal) = self.patience.after(refusal).await {
                self.is_over = true;
                return Some(Err(refusal.into()));
            }
        }
    }

    async fn read(&mut self, wait: Duration) -> ff_core::fabric::Result<()> {
        let request = ReadEvents {
            wait,
            ..self.request.clone()
        };
        let events = self.client.fabric().events(request).await?;
        self.ready.extend(events.events.into_iter().map(Observed::Event));
        self.go_on(events.next);
        Ok(())
    }

    fn go_on(&mut self, after: SignedCursor) {
        (self.request.cursor, self.request.from) = (Some(after), None);
    }

    fn begin_again(&mut self) {
        (self.request.cursor, self.request.from) = (None, Some(EventsFrom::Oldest));
        self.ready.push_back(Observed::Gap);
    }
}

impl Observed {
    /// The event, unless this tells of a gap.
    pub fn event(self) -> Option<Event> {
        match self {
            Self::Event(event) => Some(event),
            Self::Gap => None,
        }
    }
}
