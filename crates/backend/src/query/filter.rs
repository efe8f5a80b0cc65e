//! Which executions and flows a listing shows.

use ff_core::id::FlowId;
use ff_core::name::{ExecutionKind, FlowKind, LaneId, Namespace};
use ff_core::record::{Execution, Flow, Tags};
use ff_core::state::{PublicState, public_state};
use ff_core::time::Timestamp;

/// Which executions to list. Everything given must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecutionFilter {
    /// Of this tenant.
    pub namespace: Option<Namespace>,
    /// Of this lane.
    pub lane: Option<LaneId>,
    /// In this state.
    pub state: Option<PublicState>,
    /// Of this kind.
    pub kind: Option<ExecutionKind>,
    /// With this tag.
    pub tag: Option<(String, String)>,
    /// Members of this flow.
    pub flow_id: Option<FlowId>,
    /// Created at or after this moment.
    pub created_from: Option<Timestamp>,
    /// Created before this moment.
    pub created_before: Option<Timestamp>,
}

/// Which flows to list. Everything given must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowFilter {
    /// Of this tenant.
    pub namespace: Option<Namespace>,
    /// Of this kind.
    pub kind: Option<FlowKind>,
    /// With this tag.
    pub tag: Option<(String, String)>,
}

impl ExecutionFilter {
    /// Whether an execution is to be listed.
    pub fn matches(&self, execution: &Execution) -> bool {
        let definition = &execution.definition;
        let created_at = definition.created_at;
        is_wanted(self.namespace.as_ref(), &definition.namespace)
            && is_wanted(self.lane.as_ref(), &definition.lane)
            && is_wanted(self.state.as_ref(), &public_state(execution))
            && is_wanted(self.kind.as_ref(), &definition.kind)
            && has_tag(self.tag.as_ref(), &execution.tags)
            && self.flow_id.is_none_or(|flow_id| definition.flow == Some(flow_id))
            && self.created_from.is_none_or(|from| created_at >= from)
            && self.created_before.is_none_or(|before| created_at < before)
    }
}

impl FlowFilter {
    /// Whether a flow is to be listed.
    pub fn matches(&self, flow: &Flow) -> bool {
        is_wanted(self.namespace.as_ref(), &flow.namespace)
            && is_wanted(self.kind.as_ref(), &flow.kind)
            && has_tag(self.tag.as_ref(), &flow.tags)
    }
}

/// Whether a value is the wanted one, if any is.
fn is_wanted<T: PartialEq>(wanted: Option<&T>, value: &T) -> bool {
    wanted.is_none_or(|wanted| wanted == value)
}

fn has_tag(wanted: Option<&(String, String)>, tags: &Tags) -> bool {
    wanted.is_none_or(|(key, value)| tags.get(key) == Some(value))
}
