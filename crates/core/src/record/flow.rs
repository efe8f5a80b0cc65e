//! Flows: the graph's own facts, and the gate every claim of a member passes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Carried, Tags, is_default};
use crate::id::FlowId;
use crate::name::{FlowKind, Namespace};
use crate::policy::Retention;
use crate::time::Timestamp;

/// A DAG of executions. Members and their states are counted beside it, so that no member's end writes this record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Its name.
    pub id: FlowId,
    /// The tenant.
    pub namespace: Namespace,
    /// What kind of graph it is.
    #[serde(rename = "flow_kind")]
    pub kind: FlowKind,
    /// The user's labels.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tags: Arc<Tags>,
    /// Digest of what it was created with: tells a repetition from another flow of the same id.
    pub content_digest: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its members were let go; absent while its graph is being built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<Timestamp>,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// Moves with every staged edge.
    pub graph_revision: u64,
    /// How long it is kept after its last member ended: as long as it was created for, or as the longest kept of the
    /// executions that were added to it.
    #[serde(rename = "retention_ms")]
    pub retention: Retention,
    /// Its cancellation, once asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancellation: Option<FlowCancellation>,
    /// It has had members: it is kept by its retention from now on, no longer as an empty flow.
    #[serde(default, skip_serializing_if = "is_default")]
    pub populated: bool,
    /// Something that had run, or ended, was added before it was opened. It is no longer only a graph in the making, which
    /// goes by itself when nobody opens it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub in_use: bool,
    /// When its last open member ended; absent while one is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Members still carry `unopened`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub opening: bool,
    /// Members are still to be cancelled.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cancelling: bool,
    /// An operator wants it gone before its retention is over.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delete_requested: bool,
    /// Its retention is over and its members are being deleted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deleting: bool,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}

/// Decides whether members may be added and claimed. Its version moves only with its state, so that every lease commit
/// can guard on it without conflicting. It stays a name and a word: what else is to be said of a flow is said on the flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Whose gate it is.
    pub flow_id: FlowId,
    /// Where it stands.
    pub state: GateState,
}

/// What the gate lets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GateState {
    /// The graph is being built: members may be added, none is claimed.
    Assembling,
    /// Members may be added and claimed.
    Open,
    /// Members may be claimed, none is added.
    Sealed,
    /// Neither: a member that would go back to its queue is cancelled instead.
    Cancelled,
}

impl GateState {
    /// Whether members and edges may still be added.
    pub const fn takes_members(self) -> bool {
        matches!(self, GateState::Assembling | GateState::Open)
    }

    /// Whether edge groups are evaluated: the graph is whole and its members may run.
    pub const fn evaluates(self) -> bool {
        matches!(self, GateState::Open | GateState::Sealed)
    }
}

/// A flow's cancellation, kept so that a repeated call gets the first answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowCancellation {
    /// What happens to its members.
    pub policy: CancelFlowPolicy,
    /// Why.
    pub reason: String,
    /// When it was asked for.
    pub at: Timestamp,
    /// Members it had then.
    pub member_count: u64,
}

/// What a flow's cancellation does to its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CancelFlowPolicy {
    /// Every open member is cancelled.
    CancelAll,
    /// Running members may finish their current lease; all others are cancelled.
    CancelPending,
    /// The flow takes no more members; those it has go on.
    FlowOnly,
}
