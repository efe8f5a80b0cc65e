//! How the feed of lifecycle events is read.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Code, Rejection};
use crate::id::{ExecutionId, FlowId};
use crate::limits::{EVENTS_BATCH_MAX, EVENTS_BATCH_MIN};
use crate::name::{LaneId, Namespace};
use crate::record::{Happening, HistoryLine, HistorySubject};
use crate::time::{Duration, Timestamp};
use crate::token::SignedCursor;

/// Asks for lifecycle events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadEvents {
    /// Where to go on; it excludes `from`.
    pub cursor: Option<SignedCursor>,
    /// Where to begin: `oldest`, `now`, or a moment in Unix milliseconds; absent: with the oldest event kept.
    pub from: Option<EventsFrom>,
    /// What to leave out. It may change from one call to the next.
    #[serde(rename = "..filter")]
    pub filter: EventFilter,
    /// At most this many; absent: 50, at most 1,000.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::text::page))]
    pub limit: Option<usize>,
    /// How long to wait for the first one, at most 30 s; absent: not at all.
    #[serde(rename = "wait_ms", default)]
    pub wait: Duration,
    /// Collects events for this long, 100 ms to 5 s, and answers at most 200 of them at once; the others are counted in
    /// `skipped`. For whoever shows what happens and need not see all of it.
    #[serde(rename = "batch_ms")]
    pub batch: Option<Duration>,
}

impl ReadEvents {
    /// Refuses what contradicts itself.
    pub fn check(&self) -> Result<(), Rejection> {
        if self.cursor.is_some() && self.from.is_some() {
            return Err(Code::InvalidInput.because("a cursor says where to go on: give cursor or from, not both"));
        }
        if self.filter.what.contains(&Happening::Unknown) {
            let known: Vec<&str> = Happening::ALL.iter().map(|what| what.as_str()).collect();
            let detail = format!("/what: there is no such event; known are {}", known.join(", "));
            return Err(Code::InvalidInput.because(detail));
        }
        match self.batch {
            Some(batch) if !(EVENTS_BATCH_MIN..=EVENTS_BATCH_MAX).contains(&batch) => {
                let range = format!("{EVENTS_BATCH_MIN} to {EVENTS_BATCH_MAX}");
                Err(Code::InvalidInput.because(format!("/batch_ms: events are collected for {range}, not {batch}")))
            }
            _ => Ok(()),
        }
    }
}

/// Where a reader of events begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventsFrom {
    /// With the oldest event kept.
    Oldest,
    /// With what happens now. What happened in the second before may be among it: no event is lost between this and a read
    /// that follows.
    Now,
    /// With the first event of this moment or later; refused with `cursor_expired` when one of those is no longer kept.
    At(Timestamp),
}

impl Serialize for EventsFrom {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            EventsFrom::Oldest => serializer.serialize_str("oldest"),
            EventsFrom::Now => serializer.serialize_str("now"),
            EventsFrom::At(at) => at.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for EventsFrom {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EventsFromVisitor)
    }
}

struct EventsFromVisitor;

impl serde::de::Visitor<'_> for EventsFromVisitor {
    type Value = EventsFrom;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("oldest, now, or a moment in Unix milliseconds")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<EventsFrom, E> {
        match (text, text.parse()) {
            ("oldest", _) => Ok(EventsFrom::Oldest),
            ("now", _) => Ok(EventsFrom::Now),
            (_, Ok(millis)) => Ok(EventsFrom::At(Timestamp::from_millis(millis))),
            (_, Err(_)) => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
        }
    }

    fn visit_u64<E>(self, millis: u64) -> Result<EventsFrom, E> {
        Ok(EventsFrom::At(Timestamp::from_millis(millis)))
    }
}

/// Which events. Everything given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventFilter {
    /// Of this tenant; absent: of all the caller may see.
    pub namespace: Option<Namespace>,
    /// Of executions of this lane; events of flows have none.
    pub lane: Option<LaneId>,
    /// Of this flow's members, or of the flow itself.
    #[serde(rename = "flow")]
    pub flow_id: Option<FlowId>,
    /// Of this kind of execution or flow.
    pub kind: Option<String>,
    /// Of this execution.
    #[serde(rename = "execution")]
    pub execution_id: Option<ExecutionId>,
    /// One of these; none: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub what: Vec<Happening>,
}

impl EventFilter {
    /// Whether a line of the history has everything that was given.
    pub fn passes(&self, line: &HistoryLine) -> bool {
        self.namespace
            .as_ref()
            .is_none_or(|namespace| line.namespace == *namespace)
            && self.lane.as_ref().is_none_or(|lane| line.lane.as_ref() == Some(lane))
            && self.flow_id.is_none_or(|flow| line.flow_id == Some(flow))
            && self.kind.as_ref().is_none_or(|kind| line.kind == *kind)
            && self
                .execution_id
                .is_none_or(|execution| line.subject == HistorySubject::Execution(execution))
            && (self.what.is_empty() || self.what.contains(&line.what))
    }
}

/// One event: something that happened, and where a reader goes on after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    /// Goes on after this event.
    pub cursor: SignedCursor,
    /// What happened, to what and when; its fields stand beside the cursor.
    #[serde(rename = "..line")]
    pub line: HistoryLine,
}

/// The events of one call; none when there were none in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Events {
    /// In order within a partition, and so within an execution and a flow.
    pub events: Vec<Event>,
    /// Goes on after everything that was looked at, also what the filter left out.
    pub next: SignedCursor,
    /// How many events were left out, at least, whether or not the filter would have shown them: only where `batch_ms` is given.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}
