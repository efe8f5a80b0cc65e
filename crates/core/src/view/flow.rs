//! How a flow is read.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::tag;
use crate::command::page::PageRequest;
use crate::id::{ExecutionId, FlowId};
use crate::machine::flow::{Counts, FlowState};
use crate::machine::group;
use crate::name::{FlowKind, Namespace};
use crate::record::{EdgeGroupPolicy, FlowCancellation, GateState, Tags};
use crate::time::Timestamp;

/// A flow with its derived state and exact counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowView {
    /// Given by whoever created it, or minted; its members live in its partition.
    pub flow_id: FlowId,
    /// The tenant: keys of another one do not see it.
    pub namespace: Namespace,
    /// What kind of graph it is, in the words of whoever created it.
    pub flow_kind: FlowKind,
    /// The user's labels, by key.
    pub tags: Arc<Tags>,
    /// Derived from its gate and its members.
    pub state: FlowState,
    /// What may still be added and claimed.
    pub gate: GateState,
    /// How many members it has, and in which states.
    pub counts: Counts,
    /// Moves with every staged edge.
    pub graph_revision: u64,
    /// When it was created, not when it was opened.
    pub created_at: Timestamp,
    /// When its last open member ended; absent while one is open.
    pub ended_at: Option<Timestamp>,
    /// Why its gate was closed and what happens to its members; absent unless it was cancelled.
    pub cancellation: Option<FlowCancellation>,
}

/// The inbound edges of one member and what is counted over them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupView {
    /// The member they lead to.
    pub execution_id: ExecutionId,
    /// How many of their upstreams must end in a way that counts.
    pub policy: EdgeGroupPolicy,
    /// An edge was applied: the policy can no longer change.
    pub fixed: bool,
    /// They hold the member back.
    pub waiting: bool,
    /// How many were applied, and how they ended.
    #[serde(rename = "..counts")]
    pub counts: group::Counts,
}

/// Asks for flows. Everything given must hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListFlows {
    /// Of this tenant; absent: of all the caller may see.
    pub namespace: Option<Namespace>,
    /// Of this kind, as given when they were created; absent: of any but `_spawned`, the kind of flows that executions got
    /// because they spawned others.
    pub kind: Option<FlowKind>,
    /// With this tag, as `key=value`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    #[serde(with = "tag", default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<(String, String)>,
    /// The newest come first.
    #[serde(rename = "..page")]
    pub page: PageRequest,
}
