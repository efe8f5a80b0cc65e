//! Getting work: claim_for_worker, claim_from_grant, claim, exchange.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::capability::CapabilitySet;
use crate::command::budget::Reported;
use crate::command::flow::WaitedChildren;
use crate::command::lease::{Completed, Failed, LetGo, ReportUsage};
use crate::command::stream::{AppendFrame, AppendedFrame};
use crate::command::suspend::Suspend;
use crate::command::waitpoint::SuspendedTask;
use crate::error::Rejection;
use crate::id::{ExecutionId, FlowId};
use crate::name::{Category, DataRef, ExecutionKind, LaneId, Namespace, WorkerId, WorkerInstanceId};
use crate::payload::Payload;
use crate::policy::FallbackTier;
use crate::record::{AttemptKind, Fence, Incarnation, ResumedBy, Signal, StopRequest, Tags};
use crate::time::{Duration, Timestamp};
use crate::token::SignedGrant;

/// Asks for one grant.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimForWorker {
    /// The tenant.
    pub namespace: Namespace,
    /// The lane.
    pub lane: LaneId,
    /// Who will run it.
    pub worker: WorkerId,
    /// In which process slot.
    pub instance: WorkerInstanceId,
    /// What it offers.
    pub capabilities: CapabilitySet,
    /// How long the grant lasts; absent: 5 s.
    pub grant_ttl: Option<Duration>,
}

/// A signed permit to take a lease on one execution.
#[derive(Clone, Debug, PartialEq)]
pub struct IssuedGrant {
    /// On which one.
    pub execution_id: ExecutionId,
    /// The permit.
    pub grant: SignedGrant,
    /// When it lapses.
    pub expires_at: Timestamp,
}

/// Turns a grant into a lease.
#[derive(Clone, Debug, PartialEq)]
pub struct RedeemGrant {
    /// The permit.
    pub grant: SignedGrant,
    /// Who redeems it.
    pub worker: WorkerId,
    /// In which process slot.
    pub instance: WorkerInstanceId,
    /// How long the lease lasts between renewals; absent: 30 s.
    pub lease_ttl: Option<Duration>,
}

/// Asks for tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The tenant.
    pub namespace: Namespace,
    /// Who will run them.
    pub worker: WorkerId,
    /// In which process slot.
    pub instance: WorkerInstanceId,
    /// Which start of the process, when it registered with one.
    pub incarnation: Option<Incarnation>,
    /// What is wanted.
    pub want: Want,
    /// How long to wait for the first task, at most 30 s.
    pub wait: Duration,
}

/// What a worker can take.
#[derive(Clone, Debug, PartialEq)]
pub struct Want {
    /// From which lanes, at least one.
    pub lanes: Vec<LaneId>,
    /// In which order they are tried.
    pub lane_order: LaneOrder,
    /// What the worker offers.
    pub capabilities: CapabilitySet,
    /// At most this many tasks.
    pub max: usize,
    /// How long the leases last between renewals; absent: 30 s.
    pub lease_ttl: Option<Duration>,
}

/// In which order the lanes of a claim are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneOrder {
    /// Each claim starts with the next lane.
    #[default]
    RoundRobin,
    /// Always in the order given.
    Strict,
}

/// A result of an upstream that a task was not handed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedInput {
    /// The name it would have been handed under.
    pub name: DataRef,
    /// The upstream whose result it is.
    pub execution_id: ExecutionId,
}

/// A leased execution with all a worker needs to run it.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// What to run.
    pub execution_id: ExecutionId,
    /// The tenant.
    pub namespace: Namespace,
    /// The lane it came from.
    pub lane: LaneId,
    /// Which handler runs it.
    pub execution_kind: ExecutionKind,
    /// What it works on.
    pub input: Payload,
    /// Results of its upstreams, by the name its dependencies gave them.
    pub inputs: BTreeMap<DataRef, Payload>,
    /// Results that did not fit, by name: the holder reads each of them under its fence.
    pub inputs_omitted: Vec<OmittedInput>,
    /// The user's labels.
    pub tags: Tags,
    /// The flow it belongs to.
    pub flow_id: Option<FlowId>,
    /// Which run this is.
    pub attempt_index: u32,
    /// Why this run started.
    pub attempt_kind: AttemptKind,
    /// Proof of the lease.
    pub fence: Fence,
    /// When the lease ends unless renewed.
    pub expires_at: Timestamp,
    /// When the execution expires.
    pub deadline_at: Option<Timestamp>,
    /// The fallback tier to use.
    pub tier: Option<FallbackTier>,
    /// What ended its last suspension, when it goes on after one: the same attempt, a retry or a reclaim.
    pub resumed: Option<ResumedWith>,
    /// The store's time.
    pub now: Timestamp,
}

/// What a resumed task is told.
#[derive(Clone, Debug, PartialEq)]
pub struct ResumedWith {
    /// Who or what resumed it.
    pub by: ResumedBy,
    /// The signals that counted, in order, with what came with them.
    pub signals: Vec<(Signal, Payload)>,
}

/// One turn of a remote worker's loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The tenant.
    pub namespace: Namespace,
    /// Who speaks.
    pub worker: WorkerId,
    /// In which process slot.
    pub instance: WorkerInstanceId,
    /// Which start of the process.
    pub incarnation: Incarnation,
    /// What it finished.
    pub finished: Vec<Finished>,
    /// Which leases it keeps.
    pub renew: Vec<RenewLease>,
    /// Output of its tasks.
    pub frames: Vec<(ExecutionId, AppendFrame)>,
    /// Usage of its tasks.
    pub usage: Vec<(ExecutionId, ReportUsage)>,
    /// What it can take; absent: nothing.
    pub want: Option<Want>,
    /// How long to wait for the first task, at most 30 s.
    pub wait: Duration,
}

/// A task its worker lets go of.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Which one.
    pub execution_id: ExecutionId,
    /// Proof of the lease.
    pub fence: Fence,
    /// How.
    pub how: Finish,
}

/// How a worker lets a task go.
#[derive(Clone, Debug, PartialEq)]
pub enum Finish {
    /// The work is done.
    Complete {
        /// What came of it.
        result: Option<Payload>,
    },
    /// The attempt failed.
    Fail {
        /// For a person.
        reason: String,
        /// For the retry policy.
        category: Category,
    },
    /// Given back.
    Release,
    /// Go on later.
    Delay {
        /// When.
        until: Timestamp,
    },
    /// Go on when the dependencies hold.
    WaitChildren,
    /// Go on when a condition over signals holds; its own fence is not looked at.
    Suspend(Box<Suspend>),
}

/// A lease to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenewLease {
    /// Of which execution.
    pub execution_id: ExecutionId,
    /// Proof of the lease.
    pub fence: Fence,
}

/// What one turn came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchanged {
    /// What became of each finished task, in order.
    pub results: Vec<Result<FinishedOutcome, Rejection>>,
    /// What became of each renewal, in order.
    pub renewed: Vec<RenewedLease>,
    /// What became of each frame, in order.
    pub frames: Vec<Result<AppendedFrame, Rejection>>,
    /// What became of each usage report, in order.
    pub usage: Vec<Result<Reported, Rejection>>,
    /// New tasks.
    pub tasks: Vec<Task>,
    /// The store's time.
    pub server_time: Timestamp,
}

/// What became of a finished task.
#[derive(Clone, Debug, PartialEq)]
pub enum FinishedOutcome {
    /// Of a completion.
    Completed(Completed),
    /// Of a failure.
    Failed(Failed),
    /// Of a release or delay.
    LetGo(LetGo),
    /// Of waiting for dependencies.
    WaitedChildren(WaitedChildren),
    /// Of a suspension.
    Suspended(SuspendedTask),
}

/// What became of one renewal.
#[derive(Clone, Debug, PartialEq)]
pub struct RenewedLease {
    /// Of which execution.
    pub execution_id: ExecutionId,
    /// When the lease ends now, or why it could not be kept.
    pub expires_at: Result<Timestamp, Rejection>,
    /// The engine asks the worker to stop.
    pub stop_requested: Option<StopRequest>,
}
