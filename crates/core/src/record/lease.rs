//! Who may run an execution: grants, leases and how the last lease ended.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{StopRequest, WaitpointRef, is_default};
use crate::digest::LeaseDigest;
use crate::id::{AttemptId, BudgetId, GrantId, LeaseId, SuspensionId};
use crate::name::{IdempotencyKey, WorkerId, WorkerInstanceId};
use crate::time::{Duration, Timestamp};

/// Exclusive, timed ownership of the current attempt by one worker instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lease {
    /// The secret only its holder knows.
    pub id: LeaseId,
    /// The execution's epoch when it was taken.
    pub epoch: u64,
    /// Whose it is.
    #[serde(rename = "worker_id")]
    pub worker: WorkerId,
    /// Which process slot.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// When it was taken.
    pub acquired_at: Timestamp,
    /// When it ends unless renewed.
    pub expires_at: Timestamp,
    /// How long a renewal lasts.
    #[serde(rename = "ttl_ms")]
    pub ttl: Duration,
    /// When the attempt's leased time is used up; it counts once the lease is confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_at: Option<Timestamp>,
    /// A fenced call was made under it: its holder knows that it has it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub confirmed: bool,
    /// It ran out; its execution goes back to its lane at this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reclaim_at: Option<Timestamp>,
    /// The grant it came of, which is also the key of its quota slot.
    #[serde(rename = "grant_id", default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<GrantId>,
    /// Budgets that asked its holder to stop, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<BudgetStop>,
    /// What its holder is doing, as it last said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doing: Vec<StepUnderWay>,
}

/// A step of an execution that its worker has begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepUnderWay {
    /// Its name, in the worker's words: 1 to 256 bytes.
    pub step: String,
    /// When it began, as the worker says.
    pub started_at: Timestamp,
}

/// A breached budget asks the holder of a lease to stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetStop {
    /// Which budget.
    pub budget_id: BudgetId,
    /// The generation of its order: an older one may be withdrawn while this one stands.
    pub generation: u64,
    /// What the holder is told.
    pub request: StopRequest,
}

impl Lease {
    /// Whether it ran out and waits for its reclaim grace to pass.
    pub const fn is_expired(&self) -> bool {
        self.reclaim_at.is_some()
    }

    /// Whether it has been prolonged since it was taken.
    pub fn is_renewed(&self) -> bool {
        self.expires_at > self.acquired_at + self.ttl
    }

    /// What its holder is told of stopping: the request that ends first.
    pub fn stop(&self) -> Option<&StopRequest> {
        let requests = self.stops.iter().map(|stop| &stop.request);
        requests.min_by_key(|request| request.cancel_at)
    }

    /// The fence its holder shows while it runs `attempt_id`.
    pub const fn fence(&self, attempt_id: AttemptId) -> Fence {
        Fence {
            lease_id: self.id,
            lease_epoch: self.epoch,
            attempt_id,
        }
    }
}

/// A short permit to take a lease on one execution; consumed once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    /// Its id, and the key of the quota slot taken for it.
    pub id: GrantId,
    /// Who may redeem it.
    #[serde(rename = "worker_id")]
    pub worker: WorkerId,
    /// Which process slot may.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// Until when.
    pub expires_at: Timestamp,
    /// Budgets and quota let it pass; an unadmitted grant promises nothing and cannot be redeemed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub admitted: bool,
    /// It was issued to take over from a lost worker.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reclaim: bool,
}

/// The three values that prove a caller holds the lease.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fence {
    /// The lease's secret.
    pub lease_id: LeaseId,
    /// Its epoch.
    pub lease_epoch: u64,
    /// The attempt it runs.
    pub attempt_id: AttemptId,
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fence(epoch {}, {:?})", self.lease_epoch, self.attempt_id)
    }
}

/// The last lease of an execution and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndedLease {
    /// Digest of its id: enough to recognise it, not enough to use it.
    pub digest: LeaseDigest,
    /// Its epoch.
    pub epoch: u64,
    /// The attempt it ran.
    pub attempt_id: AttemptId,
    /// What ended it, with what was answered.
    pub end: LeaseEnd,
}

impl EndedLease {
    /// `lease`, which ran `attempt_id`, ended by `end`.
    pub fn of(lease: &Lease, attempt_id: AttemptId, end: LeaseEnd) -> Self {
        Self {
            digest: LeaseDigest::of(lease.id),
            epoch: lease.epoch,
            attempt_id,
            end,
        }
    }

    /// Whether `fence` is the fence of this lease.
    pub fn is_of(&self, fence: &Fence) -> bool {
        self.digest == LeaseDigest::of(fence.lease_id)
            && self.epoch == fence.lease_epoch
            && self.attempt_id == fence.attempt_id
    }
}

/// What ended a lease. The first answer of the operation is kept, so that a repetition gets it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseEnd {
    /// The work was done.
    Completed,
    /// The attempt failed and is retried at this moment.
    RetryScheduled {
        /// When the retry becomes eligible.
        delay_until: Timestamp,
    },
    /// The attempt failed for good.
    Failed,
    /// The task was given back.
    Released,
    /// The worker asked to continue later.
    Delayed {
        /// The moment it asked for.
        until: Timestamp,
    },
    /// The worker waits for its dependencies.
    WaitingChildren,
    /// The worker waited for dependencies that can no longer hold.
    DependencyImpossible,
    /// The worker suspended.
    Suspended {
        /// Which suspension.
        suspension_id: SuspensionId,
        /// Where its signals arrive.
        waitpoints: Vec<WaitpointRef>,
        /// The key it was asked under.
        idempotency_key: Option<IdempotencyKey>,
    },
    /// The holder cancelled its own execution.
    Cancelled,
    /// The holder would have left its lease without ending, but the flow is cancelled, so the execution was.
    FlowCancelled {
        /// What the holder had asked for.
        instead_of: LeaseOperation,
    },
    /// Its time ran out.
    Expired,
    /// It was taken away.
    Revoked,
    /// The execution ended under it: cancelled, past its deadline, timed out, or its flow was cancelled.
    ExecutionEnded,
    /// The attempt used up its time and the retry policy took over.
    TimedOut,
}

/// The fenced operations that end a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseOperation {
    /// The work is done.
    Complete,
    /// The attempt failed.
    Fail,
    /// The task is given back.
    Release,
    /// Go on later.
    Delay,
    /// Go on when the dependencies hold.
    WaitChildren,
    /// Go on when a condition over signals holds.
    Suspend,
    /// The holder cancels its own execution.
    Cancel,
}

impl LeaseEnd {
    /// The operation whose repetition this end answers.
    pub const fn operation(&self) -> Option<LeaseOperation> {
        match self {
            LeaseEnd::Completed => Some(LeaseOperation::Complete),
            LeaseEnd::RetryScheduled { .. } | LeaseEnd::Failed => Some(LeaseOperation::Fail),
            LeaseEnd::Released => Some(LeaseOperation::Release),
            LeaseEnd::Delayed { .. } => Some(LeaseOperation::Delay),
            LeaseEnd::WaitingChildren | LeaseEnd::DependencyImpossible => Some(LeaseOperation::WaitChildren),
            LeaseEnd::Suspended { .. } => Some(LeaseOperation::Suspend),
            LeaseEnd::Cancelled => Some(LeaseOperation::Cancel),
            LeaseEnd::FlowCancelled { instead_of } => Some(*instead_of),
            LeaseEnd::Expired | LeaseEnd::Revoked | LeaseEnd::ExecutionEnded | LeaseEnd::TimedOut => None,
        }
    }
}
