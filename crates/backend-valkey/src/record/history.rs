//! A line of history as it is kept: what its execution says anyway is left out.

use ff_backend::Result;
use ff_core::id::FlowId;
use ff_core::name::{LaneId, Namespace};
use ff_core::record::{Actor, Definition, Flow, Happening, HistoryLine, HistorySubject};
use ff_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::reply::document;

/// What a line is about, as far as its text does not say otherwise.
#[derive(Clone, Debug)]
pub(crate) struct AboutLine {
    pub(crate) subject: HistorySubject,
    pub(crate) namespace: Namespace,
    pub(crate) lane: Option<LaneId>,
    pub(crate) flow_id: Option<FlowId>,
    pub(crate) kind: String,
}

impl AboutLine {
    /// What every line of an execution is about.
    pub(crate) fn execution(subject: HistorySubject, definition: &Definition) -> Self {
        Self {
            subject,
            namespace: definition.namespace.clone(),
            lane: Some(definition.lane.clone()),
            flow_id: definition.flow,
            kind: definition.kind.as_str().to_owned(),
        }
    }

    /// What the lines of a flow are about; they say it themselves.
    pub(crate) fn flow(subject: HistorySubject, flow: &Flow) -> Self {
        Self {
            subject,
            namespace: flow.namespace.clone(),
            lane: None,
            flow_id: None,
            kind: flow.kind.as_str().to_owned(),
        }
    }
}

/// A line as it is kept. What is absent is as its record says; `null` is nothing.
#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<Namespace>,
    #[serde(default, with = "present", skip_serializing_if = "Option::is_none")]
    lane: Option<Option<LaneId>>,
    #[serde(default, with = "present", skip_serializing_if = "Option::is_none")]
    flow_id: Option<Option<FlowId>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    at: Timestamp,
    what: Happening,
    actor: Actor,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempt_index: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lease_epoch: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// A value that is there, be it `null`.
mod present {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

/// A line without what `about` says.
pub(crate) fn short_line(line: &HistoryLine, about: &AboutLine) -> String {
    text(&Line {
        namespace: (line.namespace != about.namespace).then(|| line.namespace.clone()),
        lane: (line.lane != about.lane).then(|| line.lane.clone()),
        flow_id: (line.flow_id != about.flow_id).then_some(line.flow_id),
        kind: (line.kind != about.kind).then(|| line.kind.clone()),
        ..bare(line)
    })
}

/// A line with everything it says.
pub(crate) fn whole_line(line: &HistoryLine) -> String {
    text(&Line {
        namespace: Some(line.namespace.clone()),
        lane: Some(line.lane.clone()),
        flow_id: Some(line.flow_id),
        kind: Some(line.kind.clone()),
        ..bare(line)
    })
}

fn bare(line: &HistoryLine) -> Line {
    Line {
        namespace: None,
        lane: None,
        flow_id: None,
        kind: None,
        at: line.at,
        what: line.what,
        actor: line.actor.clone(),
        attempt_index: line.attempt_index,
        lease_epoch: line.lease_epoch,
        detail: line.detail.clone(),
    }
}

fn text(line: &Line) -> String {
    serde_json::to_string(line).expect("a line is a document")
}

/// The line a text stands for.
pub(crate) fn parse_line(text: &str, about: &AboutLine) -> Result<HistoryLine> {
    let line: Line = document(text)?;
    Ok(HistoryLine {
        subject: about.subject,
        namespace: line.namespace.unwrap_or_else(|| about.namespace.clone()),
        lane: line.lane.unwrap_or_else(|| about.lane.clone()),
        flow_id: line.flow_id.unwrap_or(about.flow_id),
        kind: line.kind.unwrap_or_else(|| about.kind.clone()),
        at: line.at,
        what: line.what,
        actor: line.actor,
        attempt_index: line.attempt_index,
        lease_epoch: line.lease_epoch,
        detail: line.detail,
    })
}
