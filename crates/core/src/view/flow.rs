//! How a flow is read.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::tag;
use crate::command::page::{Page, PageRequest};
use crate::id::{ExecutionId, FlowId};
use crate::machine::flow::{Counts, FlowState};
use crate::machine::group;
use crate::name::{FlowKind, Namespace};
use crate::record::{EdgeGroupPolicy, FlowCancellation, GateState, Tags};
use crate::time::Timestamp;
use crate::token::SignedCursor;

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
    /// In one of these states; none: in any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<FlowState>,
    /// Created at or after this moment.
    pub created_from: Option<Timestamp>,
    /// Created before this moment.
    pub created_before: Option<Timestamp>,
    /// The newest come first.
    #[serde(rename = "..page")]
    pub page: PageRequest,
}

/// One page of flows. It may be shorter than asked for, or empty, and still have a next one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowPage {
    /// The entries, the newest first.
    pub items: Vec<FlowView>,
    /// Where to go on; absent: that was all.
    pub next: Option<SignedCursor>,
    /// How many flows were looked at for this page, about; it ends after 10,000, and by state after 2,000.
    pub looked_at: u64,
    /// When the last one that was looked at was created: how far back this page goes.
    pub reached_at: Option<Timestamp>,
}

impl From<FlowPage> for Page<FlowView> {
    fn from(page: FlowPage) -> Self {
        Self {
            items: page.items,
            next: page.next,
        }
    }
}
