//! How the feed of lifecycle events is read.

use serde::{Deserialize, Serialize};

use crate::id::FlowId;
use crate::name::{LaneId, Namespace};
use crate::record::HistoryLine;
use crate::time::Duration;
use crate::token::SignedCursor;

/// Asks for lifecycle events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadEvents {
    /// Where to go on; absent: from the oldest event kept.
    pub cursor: Option<SignedCursor>,
    /// What to leave out. It may change from one call to the next.
    #[serde(rename = "..filter")]
    pub filter: EventFilter,
    /// At most this many; absent: 50, at most 1,000.
    pub limit: Option<usize>,
    /// How long to wait for the first one, at most 30 s; absent: not at all.
    #[serde(rename = "wait_ms", default)]
    pub wait: Duration,
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
}
