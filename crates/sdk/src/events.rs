//! What happens, as it happens.

mod stream;

use std::time::SystemTime;

use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::LaneId;
use ff_core::record::Happening;
use ff_core::token::SignedCursor;
use ff_core::view::{Event, EventFilter, EventsFrom, ReadEvents};

use crate::client::{Client, timestamp};
use crate::error::{Error, Result};

pub use self::stream::EventStream;

/// The ends of executions and flows.
const ENDS: [Happening; 6] = [
    Happening::Completed,
    Happening::Failed,
    Happening::Cancelled,
    Happening::Expired,
    Happening::Skipped,
    Happening::FlowEnded,
];

/// Which events are wanted, and from where on: from now, unless said.
///
/// ```
/// use ff_sdk::Events;
///
/// let ends = Events::of_lane("web").ended();
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Events {
    filter: EventFilter,
    cursor: Option<SignedCursor>,
    from: Option<EventsFrom>,
    problems: Vec<String>,
}

/// One thing a stream of events tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed {
    /// Something happened.
    Event(Event),
    /// The feed keeps events for some time only, and the reader was away for longer: what happened in between is not told. The
    /// stream goes on with the oldest event kept; look at the state of what matters.
    Gap,
}

impl Events {
    /// Everything that happens.
    pub fn all() -> Self {
        Self::default()
    }

    /// What happens to executions of this lane.
    pub fn of_lane(lane: impl AsRef<str>) -> Self {
        let mut events = Self::all();
        match LaneId::parse(lane) {
            Ok(lane) => events.filter.lane = Some(lane),
            Err(rejection) => events.problems.push(rejection.detail),
        }
        events
    }

    /// What happens to this execution.
    pub fn of_execution(id: ExecutionId) -> Self {
        let mut events = Self::all();
        events.filter.execution_id = Some(id);
        events
    }

    /// What happens to this flow and its members.
    pub fn of_flow(id: FlowId) -> Self {
        let mut events = Self::all();
        events.filter.flow_id = Some(id);
        events
    }

    /// Only of this kind of execution or flow.
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.filter.kind = Some(kind.into());
        self
    }

    /// Only ends, whichever.
    pub fn ended(self) -> Self {
        self.only(ENDS)
    }

    /// Only these; adds to what was said before.
    pub fn only(mut self, what: impl IntoIterator<Item = Happening>) -> Self {
        self.filter.what.extend(what);
        self
    }

    /// Goes on after the event with this cursor.
    pub fn after(mut self, cursor: SignedCursor) -> Self {
        (self.cursor, self.from) = (Some(cursor), None);
        self
    }

    /// Begins with the oldest event kept.
    pub fn from_oldest(self) -> Self {
        self.begin(EventsFrom::Oldest)
    }

    /// Begins with the first event of this moment or later; refused when one of those is no longer kept.
    pub fn since(self, moment: SystemTime) -> Self {
        self.begin(EventsFrom::At(timestamp(moment)))
    }

    fn begin(mut self, from: EventsFrom) -> Self {
        (self.cursor, self.from) = (None, Some(from));
        self
    }

    fn request(self, client: &Client) -> Result<ReadEvents> {
        if !self.problems.is_empty() {
            return Err(Error::Invalid {
                what: "a request for events".to_owned(),
                problems: self.problems,
            });
        }
        let begins = self.from.unwrap_or(EventsFrom::Now);
        Ok(ReadEvents {
            from: self.cursor.is_none().then_some(begins),
            cursor: self.cursor,
            filter: EventFilter {
                namespace: Some(client.own_namespace().clone()),
                ..self.filter
            },
            ..ReadEvents::default()
        })
    }
}

impl Client {
    /// What happens in the client's namespace, as it happens: a stream that goes on after a break, and tells where the feed
    /// forgot something. What is refused is refused here.
    pub async fn events(&self, events: Events) -> Result<EventStream> {
        EventStream::open(self.clone(), events.request(self)?).await
    }
}
