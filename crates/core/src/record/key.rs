//! Names of what a flow partition stores: records, blobs beside them and counters.

use serde::{Deserialize, Serialize};

use super::{Attempt, Carried, Edge, Execution, Flow, Gate, Signal, SignalKeyRecord, Step, Waitpoint};
use crate::id::{EdgeId, ExecutionId, FlowId, SignalId, WaitpointId};
use crate::name::{IdempotencyKey, Namespace, StepKey};
use crate::state::PublicState;

/// Names one record of a flow partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKey {
    /// An execution.
    Execution(ExecutionId),
    /// An ended attempt that another one followed.
    Attempt(ExecutionId, u32),
    /// A waitpoint of an execution.
    Waitpoint(ExecutionId, WaitpointId),
    /// A signal delivered to an execution.
    Signal(ExecutionId, SignalId),
    /// Which signal a key stands for.
    SignalKey(ExecutionId, IdempotencyKey),
    /// A step of an execution.
    Step(ExecutionId, StepKey),
    /// Which execution a submission key stands for.
    SubmissionKey(IdempotencyScope, IdempotencyKey),
    /// A flow.
    Flow(FlowId),
    /// The gate of a flow.
    Gate(FlowId),
    /// A dependency.
    Edge(EdgeId),
}

/// One record of a flow partition.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// An execution.
    Execution(Box<Execution>),
    /// An ended attempt that another one followed.
    Attempt(ExecutionId, Box<Attempt>),
    /// A waitpoint.
    Waitpoint(Box<Waitpoint>),
    /// A signal.
    Signal(Box<Signal>),
    /// Which signal a key stands for.
    SignalKey(SignalKeyRecord),
    /// A step.
    Step(Box<Step>),
    /// Which execution a submission key stands for.
    SubmissionKey(SubmissionKeyRecord),
    /// A flow.
    Flow(Box<Flow>),
    /// The gate of a flow.
    Gate(Gate),
    /// A dependency.
    Edge(Box<Edge>),
}

/// Where a submission key is unique.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdempotencyScope {
    /// Among the solo executions of a namespace.
    Namespace(Namespace),
    /// Among the members of a flow.
    Flow(FlowId),
}

/// Remembers which execution a submission key stands for; it outlives the execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubmissionKeyRecord {
    /// Where the key is unique.
    pub scope: IdempotencyScope,
    /// The key.
    pub key: IdempotencyKey,
    /// The execution first submitted under it.
    pub execution_id: ExecutionId,
    /// Digest of what was submitted, to say whether a repetition differs.
    pub content_digest: String,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}

impl Record {
    /// The key this record is stored under.
    pub fn key(&self) -> RecordKey {
        match self {
            Record::Execution(execution) => RecordKey::Execution(execution.id),
            Record::Attempt(execution_id, attempt) => RecordKey::Attempt(*execution_id, attempt.index),
            Record::Waitpoint(waitpoint) => RecordKey::Waitpoint(waitpoint.execution_id, waitpoint.id),
            Record::Signal(signal) => RecordKey::Signal(signal.execution_id, signal.id),
            Record::SignalKey(record) => RecordKey::SignalKey(record.execution_id, record.key.clone()),
            Record::Step(step) => RecordKey::Step(step.execution_id, step.key.clone()),
            Record::SubmissionKey(record) => RecordKey::SubmissionKey(record.scope.clone(), record.key.clone()),
            Record::Flow(flow) => RecordKey::Flow(flow.id),
            Record::Gate(gate) => RecordKey::Gate(gate.flow_id),
            Record::Edge(edge) => RecordKey::Edge(edge.id),
        }
    }
}

impl From<Execution> for Record {
    fn from(execution: Execution) -> Self {
        Record::Execution(Box::new(execution))
    }
}

impl From<Waitpoint> for Record {
    fn from(waitpoint: Waitpoint) -> Self {
        Record::Waitpoint(Box::new(waitpoint))
    }
}

impl From<Signal> for Record {
    fn from(signal: Signal) -> Self {
        Record::Signal(Box::new(signal))
    }
}

impl From<Step> for Record {
    fn from(step: Step) -> Self {
        Record::Step(Box::new(step))
    }
}

impl From<Flow> for Record {
    fn from(flow: Flow) -> Self {
        Record::Flow(Box::new(flow))
    }
}

impl From<Gate> for Record {
    fn from(gate: Gate) -> Self {
        Record::Gate(gate)
    }
}

impl From<Edge> for Record {
    fn from(edge: Edge) -> Self {
        Record::Edge(Box::new(edge))
    }
}

/// Names bytes kept beside a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlobKey {
    /// What an execution was submitted with.
    Input(ExecutionId),
    /// What it was completed with.
    Result(ExecutionId),
    /// What came with a signal.
    Signal(ExecutionId, SignalId),
    /// What a step left, by the place of the step.
    Step(ExecutionId, u64),
}

impl BlobKey {
    /// The execution it is kept beside.
    pub const fn execution_id(self) -> ExecutionId {
        let (Self::Input(id) | Self::Result(id) | Self::Signal(id, _) | Self::Step(id, _)) = self;
        id
    }
}

/// Names a counter that many transactions raise without conflicting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CounterKey {
    /// A count over the members of a flow.
    Flow(FlowId, FlowCounter),
    /// A count over the inbound edges of an execution.
    Group(ExecutionId, GroupCounter),
    /// Signals that ever arrived at pending waitpoints of an execution and count against its limit: they must not write its
    /// record.
    BufferedSignals(ExecutionId),
}

/// What is counted over the members of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlowCounter {
    /// All members.
    Members,
    /// Members that have not ended.
    Open,
    /// Members in one public state.
    State(PublicState),
}

/// What is counted over the inbound edges of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupCounter {
    /// Applied edges.
    Applied,
    /// Applied edges whose upstream has not ended.
    Unresolved,
    /// Edges whose upstream ended in a way that counts.
    Satisfied,
    /// Edges whose upstream ended otherwise.
    Failed,
}

impl FlowCounter {
    /// Every counter of a flow.
    pub fn all() -> impl Iterator<Item = FlowCounter> {
        let states = PublicState::ALL.iter().copied().map(FlowCounter::State);
        [FlowCounter::Members, FlowCounter::Open].into_iter().chain(states)
    }
}

impl GroupCounter {
    /// Every counter of a group.
    pub const ALL: [GroupCounter; 4] = [
        GroupCounter::Applied,
        GroupCounter::Unresolved,
        GroupCounter::Satisfied,
        GroupCounter::Failed,
    ];
}
