//! How an execution is read.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{ExecutionId, FlowId, SuspensionId};
use crate::name::{Dimension, ExecutionKind, Identity, LaneId, Namespace, WorkerId, WorkerInstanceId};
use crate::record::{
    Counts, Failure, Journal, Progress, ReasonCode, ResumeCondition, StepUnderWay, Tags, TimeoutBehavior, WaitpointRef,
};
use crate::state::{PublicState, StateVector};
use crate::time::{Duration, Timestamp};

/// Everything about one execution but its bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExecutionView {
    /// Given by whoever submitted it, or minted; it tells the partition, too.
    pub execution_id: ExecutionId,
    /// The tenant: keys of another one do not see it.
    pub namespace: Namespace,
    /// The queue workers claim it from.
    pub lane_id: LaneId,
    /// Which handler runs it.
    pub execution_kind: ExecutionKind,
    /// 0 to 9,000, higher runs first.
    pub priority: u16,
    /// Who submitted it, as the submission said.
    pub creator_identity: Option<Identity>,
    /// Where it stands, with what is in its way.
    #[serde(rename = "..state")]
    pub state: StateView,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When its current or last attempt started.
    pub started_at: Option<Timestamp>,
    /// When it ended; absent while it is open.
    pub completed_at: Option<Timestamp>,
    /// Not handed out before this moment; absent unless it waits for one.
    pub delay_until: Option<Timestamp>,
    /// Expires at this moment, whatever it is doing; absent: never.
    pub deadline_at: Option<Timestamp>,
    /// Index of the current or last attempt, from 0; absent before the first.
    pub attempt_index: Option<u32>,
    /// How many attempts were started.
    pub attempt_count: u32,
    /// Retries, reclaims, replays and signals, which its policy limits.
    pub counts: Counts,
    /// Only for a member of a flow.
    pub flow_id: Option<FlowId>,
    /// What its worker last said in this run; absent if nothing.
    pub progress: Option<Progress>,
    /// What all its attempts reported as used, by dimension whatever the budget; the first 16 dimensions it reported.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub usage: BTreeMap<Dimension, u64>,
    /// What its worker is doing, as the last renewal of the lease said; up to 8 steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doing: Vec<StepUnderWay>,
    /// How much it has recorded of what it did; absent: nothing.
    pub steps: Option<StepTotals>,
    /// The user's labels, by key.
    pub tags: Arc<Tags>,
    /// The worker that has a lease on it; absent when none has.
    #[serde(rename = "worker_id")]
    pub worker: Option<WorkerId>,
    /// The process slot of that worker.
    #[serde(rename = "worker_instance_id")]
    pub worker_instance: Option<WorkerInstanceId>,
    /// Epoch of its latest lease: raised with every lease, 0 before the first.
    pub lease_epoch: u64,
    /// When that worker's lease ends unless renewed.
    pub lease_expires_at: Option<Timestamp>,
    /// The promise of a lease, before its worker has redeemed it.
    pub grant: Option<GrantView>,
    /// Why it was cancelled, expired or skipped.
    pub reason: Option<String>,
    /// What went wrong, once it has ended as failed.
    pub failure: Option<Failure>,
    /// Bytes of its result; absent unless its last end was a success that had one.
    pub result_bytes: Option<u64>,
    /// What it waits for, while it is suspended.
    pub suspension: Option<SuspensionView>,
}

/// How much an execution has recorded of what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepTotals {
    /// Steps that are remembered.
    pub count: u64,
    /// Bytes of their outputs.
    pub bytes: u64,
}

impl StepTotals {
    /// What an execution knows of its steps; `None`: it has none.
    pub fn of(journal: &Journal) -> Option<Self> {
        let Journal { count, bytes, .. } = *journal;
        (count > 0).then_some(Self { count, bytes })
    }
}

/// To whom an execution is promised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrantView {
    /// The worker that may redeem it.
    pub worker: WorkerId,
    /// When it goes back to its queue unless redeemed.
    pub expires_at: Timestamp,
}

/// An open suspension as it is read: without tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuspensionView {
    /// Another one for every suspension of an execution.
    pub suspension_id: SuspensionId,
    /// Why it waits, as its worker said.
    pub reason_code: ReasonCode,
    /// When its worker let go of it.
    pub since: Timestamp,
    /// When waiting ends by itself; absent: never.
    pub timeout_at: Option<Timestamp>,
    /// What happens to the execution then.
    pub timeout_behavior: TimeoutBehavior,
    /// Its timeout passed and a person was called.
    pub escalated: bool,
    /// What must hold for it to go on.
    pub resume_condition: ResumeCondition,
    /// Where signals arrive: the condition names them by their keys.
    pub waitpoints: Vec<WaitpointRef>,
}

/// Where an execution stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StateView {
    /// One word for a person.
    pub public_state: PublicState,
    /// All seven dimensions.
    pub state_vector: StateVector,
    /// Why it waits, for a person; absent when nothing is in its way.
    pub blocking_detail: Option<String>,
}

/// Asks for what an execution was completed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetResult {
    /// How long to wait for the execution to end, at most 30 s; absent: not at all.
    #[serde(rename = "wait_ms", default)]
    pub wait: Duration,
}

/// Waits for an execution to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitForEnd {
    /// How long to wait, at most 30 s; absent: not at all.
    #[serde(rename = "wait_ms", default)]
    pub wait: Duration,
}
