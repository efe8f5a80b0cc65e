//! Flows, their members and dependencies; replay_execution and wait_children.

use serde::{Deserialize, Serialize};

use crate::command::steps::{KeepSteps, StepReport};
use crate::command::submit::CreateExecution;
use crate::id::{EdgeId, ExecutionId, FlowId};
use crate::name::{DataRef, FlowKind, Namespace, RequestId};
use crate::policy::Retention;
use crate::record::{CancelFlowPolicy, DependencyKind, EdgeGroupPolicy, Fence, Tags};
use crate::time::Duration;
use crate::wire;

/// Creates a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreateFlow {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// What kind of graph it is, in the user's words; listings and events can be filtered by it.
    pub flow_kind: FlowKind,
    /// The user's labels, up to 64: keys match `[a-z][a-z0-9_.-]{0,127}`, values have up to 1 KiB.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::text::tags))]
    #[serde(default)]
    pub tags: Tags,
    /// How long it is kept after its last member ended; absent: 24 h.
    #[serde(rename = "retention_ms")]
    pub retention: Option<Retention>,
    /// Whether its members may run at once; absent: `open`.
    #[serde(default)]
    pub assembly: Assembly,
}

/// Creates a flow under a given id, or a fresh one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreateFlowWith {
    /// Its id; minted when absent.
    pub flow_id: Option<FlowId>,
    /// What it is; another definition under the same id is refused.
    #[serde(rename = "..definition")]
    pub definition: CreateFlow,
}

/// A flow that is there now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreatedFlow {
    /// As given, or minted: what members are added to.
    pub flow_id: FlowId,
    /// New, or there before.
    #[serde(rename = "status")]
    pub created: FlowCreated,
}

/// Whether a new flow lets its members go at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Assembly {
    /// Members run as they come.
    #[default]
    Open,
    /// Nothing runs before the flow is opened; one left unopened is deleted after 1 h.
    Assembling,
}

/// What became of a creation whose id was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FlowCreated {
    /// A new flow.
    Created,
    /// It was created before, with the same definition.
    Exists,
}

/// What became of opening a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// Its members are being let go now.
    Now,
    /// It was open before.
    Already,
}

wire::repeatable!(Opened, "opened");

/// Cancels or seals a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CancelFlow {
    /// For a person, up to 4 KiB; kept with the flow and in its history.
    pub reason: String,
    /// What happens to its members.
    pub policy: CancelFlowPolicy,
    /// How long the answer may wait until every member was reached, at most 30 s; absent: not at all.
    #[serde(rename = "wait_ms", default)]
    pub wait: Duration,
}

/// What became of a flow's cancellation, with some of the members it concerned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemberCancellation {
    /// What became of it; its fields stand beside the members.
    #[serde(rename = "..cancelled")]
    pub cancelled: FlowCancelled,
    /// Members, at most 1,000 of them.
    #[serde(default)]
    pub member_execution_ids: Vec<ExecutionId>,
}

/// What became of a flow's cancellation. A repetition gets the first one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowCancelled {
    /// Whether members are still to be cancelled.
    #[serde(rename = "status")]
    pub progress: CancelProgress,
    /// The policy of the first call.
    pub policy: CancelFlowPolicy,
    /// The reason of the first call.
    pub reason: String,
    /// Members the flow had at the first call, ended ones included.
    pub member_count: u64,
}

/// How far a flow's cancellation is when it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CancelProgress {
    /// Nothing is left to do.
    Cancelled,
    /// Members are cancelled in follow-up work.
    #[serde(rename = "cancellation_scheduled")]
    Scheduled,
}

/// What became of adding an execution to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Joined {
    /// It is a member now.
    Added {
        /// Members the flow has, with this one.
        node_count: u64,
    },
    /// It was a member before.
    AlreadyMember {
        /// Members the flow has, with this one.
        node_count: u64,
    },
}

/// Adds a dependency between two members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageDependencyEdge {
    /// Its id; derived from the pair when absent.
    pub edge_id: Option<EdgeId>,
    /// The member that must end first.
    pub upstream: ExecutionId,
    /// The member that waits.
    pub downstream: ExecutionId,
    /// Which end of the upstream counts as success; absent: `success_only`.
    #[serde(default)]
    pub dependency_kind: DependencyKind,
    /// The name under which the upstream's result is handed over; absent: it is not.
    pub data_passing_ref: Option<DataRef>,
    /// Only if the graph has not changed since this revision; else `stale_graph_revision`.
    pub expected_graph_revision: Option<u64>,
    /// Whether it counts at once; absent: yes. Otherwise it must be applied in a call of its own.
    #[serde(default = "yes")]
    pub apply: bool,
}

fn yes() -> bool {
    true
}

/// A staged dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Staged {
    /// As given, or derived from the pair: what applying it names.
    pub edge_id: EdgeId,
    /// The revision of the graph it made.
    pub graph_revision: u64,
}

/// What became of applying a dependency to its child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Applied {
    /// It counts from now on.
    Applied {
        /// Dependencies of the child that are not satisfied.
        unsatisfied_count: u64,
    },
    /// It counted before.
    AlreadyApplied,
}

/// Makes an execution a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AddExecution {
    /// An execution of the flow's partition that is in no other flow.
    pub execution_id: ExecutionId,
}

/// Makes a staged dependency count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApplyDependency {
    /// The edge, as staging it answered.
    pub edge_id: EdgeId,
}

/// Says how the inbound edges of a member join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetEdgeGroupPolicy {
    /// The member the edges lead to.
    pub execution_id: ExecutionId,
    /// How they join. It is fixed once an edge was applied.
    pub policy: EdgeGroupPolicy,
}

/// A graph, or a part of one, with what becomes of its flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowGraph {
    /// The flow, which is created if it is not there.
    #[serde(rename = "..flow")]
    pub flow: CreateFlowWith,
    /// New members, 1 to 1,000; a larger graph is sent in parts.
    #[serde(default)]
    pub members: Vec<GraphMember>,
    /// Dependencies of the new members, at most 10,000.
    #[serde(default)]
    pub edges: Vec<GraphEdge>,
    /// Whether the graph is whole with this part, and its members may run; absent: yes.
    #[serde(default = "yes")]
    pub open: bool,
}

/// A graph, or a part of one, that is there now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphCreated {
    /// The flow they are members of, as given or minted.
    pub flow_id: FlowId,
    /// The executions of the part, in its order.
    pub execution_ids: Vec<ExecutionId>,
}

/// One new member of a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphMember {
    /// Its name inside the flow; its execution id follows from it unless the submission names one.
    pub key: String,
    /// What is submitted. `flow_id` and `depends_on` come from the graph.
    #[serde(rename = "..submission")]
    pub submission: CreateExecution,
}

/// One dependency of a graph. Its downstream is a member of the same part; its upstream may be of an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphEdge {
    /// Key of the member that must end first.
    pub upstream: String,
    /// Key of the member that waits.
    pub downstream: String,
    /// Which end of the upstream counts as success; absent: `success_only`.
    #[serde(default)]
    pub dependency_kind: DependencyKind,
    /// The name under which the upstream's result is handed over; absent: it is not.
    pub data_passing_ref: Option<DataRef>,
}

/// Reopens a terminal execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayExecution {
    /// Makes repeated requests one; the last 16 ids are remembered.
    pub request_id: Option<RequestId>,
    /// Which of its steps it keeps; absent: `done`, and after a success `none`.
    pub steps: Option<KeepSteps>,
}

/// What became of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// It was reopened now.
    Now,
    /// The same request reopened it before.
    Already,
}

wire::repeatable!(Replayed, "replayed");

/// Goes on when the dependencies hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitChildren {
    /// Proof of the lease, as the task carried it.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// Steps to record with it, as record_steps takes them, or it is refused with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepReport>,
}

/// What became of waiting for dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum WaitedChildren {
    /// They hold; the lease is kept.
    AlreadySatisfied,
    /// The lease has ended; the same attempt goes on once they hold.
    Waiting,
    /// They can no longer hold; the execution failed.
    DependencyImpossible,
    /// The flow is cancelled, so the execution was cancelled instead.
    Cancelled,
}
