//! Dependencies between members of a flow.

use serde::{Deserialize, Serialize};

use super::{Carried, CounterKey, GroupCounter, OutcomeKind};
use crate::digest::Digest;
use crate::id::{EdgeId, ExecutionId, FlowId};
use crate::name::DataRef;
use crate::time::Timestamp;

/// Upstream → downstream. An edge resolves once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Edge {
    /// Given when it was staged, or derived from the pair.
    #[serde(rename = "edge_id")]
    pub id: EdgeId,
    /// The graph it is part of.
    pub flow_id: FlowId,
    /// The member that must end first.
    pub upstream: ExecutionId,
    /// The member that waits.
    pub downstream: ExecutionId,
    /// Which end counts as success.
    #[serde(rename = "dependency_kind")]
    pub kind: DependencyKind,
    /// The name under which the downstream is handed the upstream's result; absent: it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_passing_ref: Option<DataRef>,
    /// Whether it counts, and how it was resolved.
    pub state: EdgeState,
    /// How the downstream's edges join: copied when the edge is applied (fixed from then on), so that the upstream's end
    /// knows when to nudge without reading the child.
    pub join: EdgeGroupPolicy,
    /// The revision of the graph it made, so that a repeated call gets its first answer.
    pub graph_revision: u64,
    /// When it was staged.
    pub created_at: Timestamp,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}

/// Which ends of an upstream satisfy an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DependencyKind {
    /// Only a success; any other end fails the edge.
    #[default]
    SuccessOnly,
    /// Any end: success, failure, cancellation, expiry or being skipped.
    AnyTerminal,
}

/// Where an edge stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EdgeState {
    /// Part of the graph, not yet counted for the downstream.
    Staged,
    /// Counted; the upstream has not ended.
    Unresolved,
    /// The upstream ended in a way that counts.
    Satisfied,
    /// The upstream ended otherwise.
    Failed,
}

impl Edge {
    /// The id of an edge that was given none. It follows from the pair, so that a pair collides with itself.
    pub fn id_between(upstream: ExecutionId, downstream: ExecutionId) -> EdgeId {
        EdgeId::from_uuid(Digest::of("edge", [upstream.to_string(), downstream.to_string()]).uuid())
    }

    /// Where it stands once its upstream has ended by `outcome`.
    pub const fn resolution(&self, outcome: OutcomeKind) -> EdgeState {
        match (self.kind, outcome) {
            (DependencyKind::AnyTerminal, _) | (DependencyKind::SuccessOnly, OutcomeKind::Success) => {
                EdgeState::Satisfied
            }
            (DependencyKind::SuccessOnly, _) => EdgeState::Failed,
        }
    }

    /// Whether it still waits for its upstream.
    pub const fn is_unresolved(&self) -> bool {
        matches!(self.state, EdgeState::Unresolved)
    }
}

impl EdgeState {
    /// The counter of the downstream's group that counts edges in this state.
    pub const fn counter(self, downstream: ExecutionId) -> Option<CounterKey> {
        let counter = match self {
            EdgeState::Staged => return None,
            EdgeState::Unresolved => GroupCounter::Unresolved,
            EdgeState::Satisfied => GroupCounter::Satisfied,
            EdgeState::Failed => GroupCounter::Failed,
        };
        Some(CounterKey::Group(downstream, counter))
    }
}

/// How the inbound edges of one downstream join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EdgeGroupPolicy {
    /// Every upstream must end in a way that counts; one that does not makes the group impossible.
    #[default]
    AllOf,
    /// One upstream is enough.
    AnyOf {
        /// What becomes of the upstreams that are no longer needed.
        on_satisfied: OnSatisfied,
    },
    /// `k` upstreams are enough.
    Quorum {
        /// How many must end in a way that counts, at least 1.
        k: u32,
        /// What becomes of the upstreams that are no longer needed.
        on_satisfied: OnSatisfied,
    },
}

/// What becomes of upstreams that are no longer needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnSatisfied {
    /// Those that feed no other child that waits for its group are cancelled.
    CancelRemaining,
    /// They go on, and their ends change nothing for the group.
    LetRun,
}

impl EdgeGroupPolicy {
    /// What becomes of upstreams that are no longer needed; an `all_of` group needs each of them.
    pub const fn cancels_remaining(self) -> bool {
        matches!(
            self,
            EdgeGroupPolicy::AnyOf {
                on_satisfied: OnSatisfied::CancelRemaining
            } | EdgeGroupPolicy::Quorum {
                on_satisfied: OnSatisfied::CancelRemaining,
                ..
            }
        )
    }
}
