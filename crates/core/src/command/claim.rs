//! Getting work: claim_for_worker, claim_from_grant, claim, exchange.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::capability::CapabilitySet;
use crate::command::budget::Reported;
use crate::command::flow::{WaitChildren, WaitedChildren};
use crate::command::lease::{Complete, Completed, DelayUntil, Fail, Failed, LetGo, Release, Renew, ReportUsage};
use crate::command::steps::{RecordSteps, RecordedSteps, TaskJournal};
use crate::command::stream::{AppendFrame, AppendedFrame};
use crate::command::suspend::Suspend;
use crate::command::waitpoint::SuspendedTask;
use crate::command::worker::WorkerLoad;
use crate::digest::Digest;
use crate::error::Rejection;
use crate::fabric::On;
use crate::id::{ExecutionId, FlowId};
use crate::name::{DataRef, ExecutionKind, LaneId, Namespace, RequestId, WorkerId, WorkerInstanceId};
use crate::payload::Payload;
use crate::policy::FallbackTier;
use crate::record::{AttemptKind, Drain, Fence, Incarnation, ResumedBy, StopRequest, Tags};
use crate::time::{Duration, Timestamp};
use crate::token::SignedGrant;
use crate::view::SignalView;
use crate::wire;

/// Asks for one grant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimForWorker {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// The queue to take it from; `default` unless given.
    #[serde(default = "LaneId::default_lane")]
    pub lane: LaneId,
    /// Who will run it; only this worker can redeem the grant.
    #[serde(rename = "worker_id")]
    pub worker: WorkerId,
    /// In which process slot of that worker.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// What it offers, up to 256 tokens: it is handed only what requires nothing else.
    #[serde(default)]
    pub capabilities: CapabilitySet,
    /// How long the grant lasts, 1 ms to 60 s; absent: 5 s.
    #[serde(rename = "grant_ttl_ms")]
    pub grant_ttl: Option<Duration>,
}

/// A signed permit to take a lease on one execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IssuedGrant {
    /// The execution it is for.
    pub execution_id: ExecutionId,
    /// The signed permit; it can be redeemed once.
    pub grant: SignedGrant,
    /// When it lapses, and the execution goes back to its queue.
    pub expires_at: Timestamp,
}

/// Turns a grant into a lease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RedeemGrant {
    /// The signed permit as it was issued.
    pub grant: SignedGrant,
    /// Who redeems it: the worker it was issued to.
    #[serde(rename = "worker_id")]
    pub worker: WorkerId,
    /// In which process slot: the one it was issued to.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// How long the lease lasts between renewals, 1 s to 24 h; absent: 30 s.
    #[serde(rename = "lease_ttl_ms")]
    pub lease_ttl: Option<Duration>,
}

/// Asks for tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claim {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// The logical worker that will run them, as reads show it.
    #[serde(rename = "worker_id")]
    pub worker: WorkerId,
    /// In which process slot of that worker.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// Which start of the process, when it registered with one; refused while another one has this slot.
    pub incarnation: Option<Incarnation>,
    /// Which tasks, how many, and for how long.
    #[serde(rename = "..want")]
    pub want: Want,
    /// How long to wait for the first task, at most 30 s; absent: not at all.
    #[serde(rename = "wait_ms", default)]
    pub wait: Duration,
}

/// What a worker can take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Want {
    /// From which lanes, 1 to 1,000.
    pub lanes: Vec<LaneId>,
    /// In which order they are tried; absent: `round_robin`.
    #[serde(default)]
    pub lane_order: LaneOrder,
    /// What the worker offers, up to 256 tokens: it is handed only what requires nothing else.
    #[serde(default)]
    pub capabilities: CapabilitySet,
    /// At most this many tasks, up to 1,000; absent: 1. Only an exchange may want 0.
    #[serde(default = "one")]
    pub max: usize,
    /// How long the leases last between renewals, 1 s to 24 h; absent: 30 s. At most 10 s before the first renewal.
    #[serde(rename = "lease_ttl_ms")]
    pub lease_ttl: Option<Duration>,
}

fn one() -> usize {
    1
}

/// In which order the lanes of a claim are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OmittedInput {
    /// The name it would have been handed under.
    pub name: DataRef,
    /// The upstream whose result it is.
    pub execution_id: ExecutionId,
}

/// A leased execution with all a worker needs to run it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Task {
    /// What to run, and what every call about it names.
    pub execution_id: ExecutionId,
    /// The tenant it was submitted for.
    pub namespace: Namespace,
    /// The lane it came from.
    #[serde(rename = "lane_id")]
    pub lane: LaneId,
    /// Which handler runs it.
    pub execution_kind: ExecutionKind,
    /// The bytes it was submitted with.
    #[serde(rename = "input:bytes")]
    pub input: Payload,
    /// Results of its upstreams, by the name its dependencies gave them.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "BTreeMap<DataRef, crate::payload::by_name::Named>")
    )]
    #[serde(
        with = "crate::payload::by_name",
        default,
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub inputs: BTreeMap<DataRef, Payload>,
    /// Results that did not fit, by name: the holder reads each of them under its fence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs_omitted: Vec<OmittedInput>,
    /// The user's labels, as they were when it was claimed.
    #[serde(default)]
    pub tags: Tags,
    /// The flow it is a member of, if any.
    pub flow_id: Option<FlowId>,
    /// Which run this is, from 0. Going on after a suspension, delay or release is the same run.
    pub attempt_index: u32,
    /// Why this run started.
    pub attempt_kind: AttemptKind,
    /// Proof of the lease, which every call about the task shows. It holds a secret: do not log it.
    #[serde(rename = "..fence")]
    pub fence: Fence,
    /// When the lease ends unless renewed, on the store's clock.
    pub expires_at: Timestamp,
    /// When the execution expires, whoever runs it; absent: never.
    pub deadline_at: Option<Timestamp>,
    /// The provider and model to use; absent without a fallback policy.
    pub tier: Option<FallbackTier>,
    /// What ended its last suspension, when it goes on after one: the same attempt, a retry or a reclaim.
    pub resumed: Option<ResumedWith>,
    /// What was done already; absent: nothing was recorded.
    pub journal: Option<TaskJournal>,
    /// The store's time, to compare the other times with.
    #[serde(rename = "server_time")]
    pub now: Timestamp,
}

/// What a resumed task is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResumedWith {
    /// Who or what resumed it.
    pub by: ResumedBy,
    /// The signals that counted, in order, with what came with them.
    pub signals: Vec<SignalView>,
}

/// One turn of a remote worker's loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exchange {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// The logical worker that speaks, as reads show it.
    #[serde(rename = "worker_id")]
    pub worker: WorkerId,
    /// In which process slot of that worker.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// Which start of the process; it may want no tasks while another one has this slot.
    pub incarnation: Incarnation,
    /// Tasks it lets go. All five lists together have at most 1,000 entries.
    #[serde(default)]
    pub finished: Vec<On<ExecutionId, Finish>>,
    /// Leases it keeps.
    #[serde(default)]
    pub renew: Vec<On<ExecutionId, Renew>>,
    /// What the handlers of its tasks have done.
    #[serde(default)]
    pub steps: Vec<On<ExecutionId, RecordSteps>>,
    /// Output of its tasks, appended in this order.
    #[serde(default)]
    pub frames: Vec<On<ExecutionId, AppendFrame>>,
    /// What its tasks spent, for their budgets.
    #[serde(default)]
    pub usage: Vec<On<ExecutionId, ReportUsage>>,
    /// What it can take; absent: nothing.
    pub want: Option<Want>,
    /// How busy it is, and what it runs.
    #[serde(rename = "..load")]
    pub load: WorkerLoad,
    /// How long to wait for the first task, at most 30 s; absent: not at all. With a `max` of 0 it waits to be told of stops.
    #[serde(rename = "wait_ms", default)]
    pub wait: Duration,
    /// Makes its frames and usage ones that can be repeated, each under a request id that follows from this one and its index,
    /// unless it has its own.
    pub request_id: Option<RequestId>,
}

impl Exchange {
    /// Gives the frames and the usage the request ids that follow from this one's.
    pub fn name_items(&mut self) {
        let Some(request_id) = &self.request_id else { return };
        let derived = |list: &str, index: usize| {
            let digest = Digest::of("exchange", [request_id.as_str(), list, &index.to_string()]);
            RequestId::parse(digest.to_string()).ok()
        };
        for (index, frame) in self.frames.iter_mut().enumerate() {
            let own = &mut frame.command.request_id;
            *own = own.take().or_else(|| derived("frames", index));
        }
        for (index, usage) in self.usage.iter_mut().enumerate() {
            let own = &mut usage.command.request_id;
            *own = own.take().or_else(|| derived("usage", index));
        }
    }
}

/// How a worker lets a task go: an operation under its own name, with the fields that it has when it is called alone.
#[derive(Clone, Debug, PartialEq)]
pub enum Finish {
    /// The work is done: the execution ends as a success.
    Complete(Complete),
    /// The attempt failed: the policy decides on a retry.
    Fail(Fail),
    /// Given back: the same attempt goes on with the next claim.
    Release(Release),
    /// Go on later, in the same attempt.
    Delay(DelayUntil),
    /// Go on when the dependencies hold.
    WaitChildren(WaitChildren),
    /// Go on when a condition over signals holds.
    Suspend(Box<Suspend>),
}

impl Finish {
    /// The same under this lease.
    #[must_use]
    pub fn under(mut self, fence: Fence) -> Self {
        let own = match &mut self {
            Finish::Complete(command) => &mut command.fence,
            Finish::Fail(command) => &mut command.fence,
            Finish::Release(command) => &mut command.fence,
            Finish::Delay(command) => &mut command.fence,
            Finish::WaitChildren(command) => &mut command.fence,
            Finish::Suspend(command) => &mut command.fence,
        };
        *own = Some(fence);
        self
    }
}

/// What one turn came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exchanged {
    /// What became of each finished task, in order.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<wire::answers::Answer<FinishedOutcome>>"))]
    #[serde(with = "wire::answers")]
    pub results: Vec<Result<FinishedOutcome, Rejection>>,
    /// What became of each renewal, in order.
    pub renewed: Vec<RenewedLease>,
    /// What became of the steps of each task, in order.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<wire::answers::Answer<RecordedSteps>>"))]
    #[serde(with = "wire::answers")]
    pub steps: Vec<Result<RecordedSteps, Rejection>>,
    /// What became of each frame, in order.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<wire::answers::Answer<AppendedFrame>>"))]
    #[serde(with = "wire::answers")]
    pub frames: Vec<Result<AppendedFrame, Rejection>>,
    /// What became of each usage report, in order.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<wire::answers::Answer<Reported>>"))]
    #[serde(with = "wire::answers")]
    pub usage: Vec<Result<Reported, Rejection>>,
    /// New tasks, each under a lease of its own; at most as many as were wanted.
    pub tasks: Vec<Task>,
    /// Tasks of this process slot that this server decided to stop since the last exchange. What another server decided is told
    /// by the next renewal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<StoppedTask>,
    /// Set while the worker is to finish what it has: it is handed nothing more.
    pub drain: Option<Drain>,
    /// The store's time, to compare expiries with.
    pub server_time: Timestamp,
}

/// A task that its worker is to stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoppedTask {
    /// Which execution.
    pub execution_id: ExecutionId,
    /// Under which lease.
    pub lease_epoch: u64,
    /// Why, and until when, if the lease goes on until then; absent: it is over.
    pub stop_requested: Option<StopRequest>,
    /// Why the lease is over: what a renewal would be refused with.
    pub error: Option<Rejection>,
}

/// What became of a finished task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "op")]
pub enum FinishedOutcome {
    /// Of a completion.
    #[serde(rename = "complete")]
    Completed(Completed),
    /// Of a failure.
    #[serde(rename = "fail")]
    Failed(Failed),
    /// Of a release.
    #[serde(rename = "release")]
    Released(LetGo),
    /// Of a delay.
    #[serde(rename = "delay")]
    Delayed(LetGo),
    /// Of waiting for dependencies.
    #[serde(rename = "wait_children")]
    WaitedChildren(WaitedChildren),
    /// Of a suspension.
    #[serde(rename = "suspend")]
    Suspended(SuspendedTask),
}

/// What became of one renewal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "RenewedForm", into = "RenewedForm")]
pub struct RenewedLease {
    /// The execution the lease is on.
    pub execution_id: ExecutionId,
    /// When the lease ends now, or why it could not be kept.
    pub expires_at: Result<Timestamp, Rejection>,
    /// Set while the worker is asked to stop, because a budget is used up.
    pub stop_requested: Option<StopRequest>,
}

/// How it travels: `expires_at`, or `error`.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RenewedForm {
    execution_id: ExecutionId,
    expires_at: Option<Timestamp>,
    error: Option<Rejection>,
    stop_requested: Option<StopRequest>,
}

impl From<RenewedLease> for RenewedForm {
    fn from(renewed: RenewedLease) -> Self {
        let (expires_at, error) = match renewed.expires_at {
            Ok(expires_at) => (Some(expires_at), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            execution_id: renewed.execution_id,
            expires_at,
            error,
            stop_requested: renewed.stop_requested,
        }
    }
}

impl TryFrom<RenewedForm> for RenewedLease {
    type Error = &'static str;

    fn try_from(form: RenewedForm) -> Result<Self, &'static str> {
        let expires_at = match (form.expires_at, form.error) {
            (_, Some(error)) => Err(error),
            (Some(expires_at), None) => Ok(expires_at),
            (None, None) => return Err("a renewal has expires_at or error"),
        };
        Ok(Self {
            execution_id: form.execution_id,
            expires_at,
            stop_requested: form.stop_requested,
        })
    }
}
