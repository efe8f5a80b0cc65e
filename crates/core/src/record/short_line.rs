//! A line of history as it is kept with its record: what the record says anyway is left out.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Actor, Execution, Flow, Happening, HistoryLine, HistorySubject};
use crate::id::FlowId;
use crate::name::{LaneId, Namespace};
use crate::time::Timestamp;

/// What the lines of a record are about, as far as they do not say otherwise.
#[derive(Clone, Debug)]
pub struct AboutLines<'r> {
    /// Whose they are.
    pub subject: HistorySubject,
    /// The tenant.
    pub namespace: Cow<'r, Namespace>,
    /// The execution's queue.
    pub lane: Option<Cow<'r, LaneId>>,
    /// The flow the execution belongs to, where that can be told from the record for all of its lines.
    pub flow_id: Option<FlowId>,
    /// The execution's or flow's kind.
    pub kind: Cow<'r, str>,
}

impl<'r> AboutLines<'r> {
    /// What the lines of an execution are about.
    pub fn execution(execution: &'r Execution) -> Self {
        let definition = &execution.definition;
        Self {
            subject: HistorySubject::Execution(execution.id),
            namespace: Cow::Borrowed(&definition.namespace),
            lane: Some(Cow::Borrowed(&definition.lane)),
            flow_id: definition.flow,
            kind: Cow::Borrowed(definition.kind.as_str()),
        }
    }

    /// What the lines of a flow are about.
    pub fn flow(flow: &'r Flow) -> Self {
        Self {
            subject: HistorySubject::Flow(flow.id),
            namespace: Cow::Borrowed(&flow.namespace),
            lane: None,
            flow_id: None,
            kind: Cow::Borrowed(flow.kind.as_str()),
        }
    }
}

/// A line without what its record says. What is absent is as the record has it; `null` is nothing.
#[derive(Serialize, Deserialize)]
pub struct ShortLine<'l> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<Cow<'l, Namespace>>,
    #[serde(default, with = "present", skip_serializing_if = "Option::is_none")]
    lane_id: Option<Option<Cow<'l, LaneId>>>,
    #[serde(default, with = "present", skip_serializing_if = "Option::is_none")]
    flow_id: Option<Option<FlowId>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<Cow<'l, str>>,
    at: Timestamp,
    what: Happening,
    actor: Cow<'l, Actor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempt_index: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lease_epoch: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<Cow<'l, str>>,
}

/// A value that is there, be it `null`.
mod present {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &Option<Option<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().and_then(Option::as_ref).serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<T>>, D::Error> {
        Option::deserialize(deserializer).map(Some)
    }
}

impl<'l> ShortLine<'l> {
    /// A line without what `about` says; with everything, where nothing does.
    pub fn of(line: &'l HistoryLine, about: Option<&AboutLines<'_>>) -> Self {
        let differs = |same: fn(&HistoryLine, &AboutLines<'_>) -> bool| !about.is_some_and(|about| same(line, about));
        let lane = line.lane.as_ref().map(Cow::Borrowed);
        Self {
            namespace: differs(|line, about| line.namespace == *about.namespace)
                .then_some(Cow::Borrowed(&line.namespace)),
            lane_id: differs(|line, about| line.lane.as_ref() == about.lane.as_deref()).then_some(lane),
            flow_id: differs(|line, about| line.flow_id == about.flow_id).then_some(line.flow_id),
            kind: differs(|line, about| line.kind == about.kind).then_some(Cow::Borrowed(&line.kind)),
            at: line.at,
            what: line.what,
            actor: Cow::Borrowed(&line.actor),
            attempt_index: line.attempt_index,
            lease_epoch: line.lease_epoch,
            detail: line.detail.as_deref().map(Cow::Borrowed),
        }
    }

    /// The whole line.
    pub fn whole(self, about: &AboutLines<'_>) -> HistoryLine {
        HistoryLine {
            subject: about.subject,
            namespace: self
                .namespace
                .map_or_else(|| (*about.namespace).clone(), Cow::into_owned),
            lane: match self.lane_id {
                Some(lane) => lane.map(Cow::into_owned),
                None => about.lane.as_deref().cloned(),
            },
            flow_id: self.flow_id.unwrap_or(about.flow_id),
            kind: self.kind.map_or_else(|| about.kind.to_string(), Cow::into_owned),
            at: self.at,
            what: self.what,
            actor: self.actor.into_owned(),
            attempt_index: self.attempt_index,
            lease_epoch: self.lease_epoch,
            detail: self.detail.map(Cow::into_owned),
        }
    }
}
