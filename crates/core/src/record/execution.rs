//! The execution: what was submitted, and every fact about where it stands.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Attempt, AttemptKind, Carried, EdgeGroupPolicy, Effect, EndedLease, Grant, Journal, Lease, Outcome,
    PendingWaitpoint, ReportLog, RequestLog, Resumed, Success, Suspension, is_default,
};
use crate::id::{ExecutionId, FlowId};
use crate::ledger::AccountKey;
use crate::limits::USAGE_DIMENSIONS_MAX;
use crate::name::{Dimension, ExecutionKind, IdempotencyKey, Identity, LaneId, Namespace};
use crate::policy::Policy;
use crate::time::{Duration, Timestamp};

/// Tags by key.
pub type Tags = BTreeMap<String, String>;

/// One durable unit of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// Its name and partition.
    pub id: ExecutionId,
    /// What was submitted; never changes.
    pub definition: Arc<Definition>,
    /// Higher runs first.
    pub priority: u16,
    /// The user's labels.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tags: Arc<Tags>,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// The moment it expires, wherever it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<Timestamp>,
    /// Where it stands, with what only that phase knows.
    pub phase: Phase,
    /// An operator stopped it from being handed out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// Member of a flow that is not whole yet; it is in no queue.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unopened: bool,
    /// How its inbound edges join and whether they hold it back; absent while it has none and no policy was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Dependencies>,
    /// Raised at every acquire; never goes back.
    pub lease_epoch: u64,
    /// How the last lease ended, so that a repeated call gets its first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_lease: Option<EndedLease>,
    /// The current attempt, or the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Attempt>,
    /// What was counted so far.
    #[serde(default, skip_serializing_if = "is_default")]
    pub counts: Counts,
    /// What its last success left, through replays and however they end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<Success>,
    /// What the worker said about its progress in this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// What its attempts reported as used, by dimension whatever the budget. Dimensions beyond the first 16 are not summed
    /// here; its attempts have them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub usage: BTreeMap<Dimension, u64>,
    /// Its steps, which are records of their own; absent while it has recorded none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub steps: Journal,
    /// Pending waitpoints no suspension has used and that were open when the record was last written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending_waitpoints: Vec<PendingWaitpoint>,
    /// What ended the last suspension, for whoever goes on from there: the same attempt, a retry or a reclaim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<Resumed>,
    /// The last requests that have no identity of their own.
    #[serde(default, skip_serializing_if = "is_default")]
    pub requests: RequestLog,
    /// Its last usage reports.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reports: ReportLog,
    /// Effects on other partitions not yet known to have arrived.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outbox: Vec<Effect>,
    /// Work this record still owes to others.
    #[serde(default, skip_serializing_if = "is_default")]
    pub follow_ups: FollowUps,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}

/// What was submitted. Frozen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The tenant.
    pub namespace: Namespace,
    /// The queue.
    #[serde(rename = "lane_id")]
    pub lane: LaneId,
    /// Which handler runs it.
    #[serde(rename = "execution_kind")]
    pub kind: ExecutionKind,
    /// Who submitted it.
    #[serde(rename = "creator_identity", default, skip_serializing_if = "Option::is_none")]
    pub creator: Option<Identity>,
    /// When.
    pub created_at: Timestamp,
    /// The flow it belongs to.
    #[serde(rename = "flow_id", default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowId>,
    /// The key it was submitted under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<IdempotencyKey>,
    /// The deadline it was given, besides the one its policy counts from the start of each run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_deadline_at: Option<Timestamp>,
    /// How it is retried, timed, limited and kept.
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy: Policy,
    /// Digest of everything submitted, payload included: tells a repetition from another submission.
    pub content_digest: String,
    /// Bytes of the input, so that a claim can bound what it hands out.
    pub input_bytes: u64,
}

/// The four phases; each carries what exists only in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Waiting for a worker, or for a reason not to hand it out to pass.
    Runnable(Runnable),
    /// A worker has it.
    Active(Lease),
    /// It gave up its lease and waits for signals.
    Suspended(Suspension),
    /// It ended.
    Terminal(Outcome),
}

/// What a runnable execution waits for, and what its next claim will be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Runnable {
    /// Decided now, so that handing it out needs no rule.
    pub next_claim: NextClaim,
    /// Not before this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Delay>,
    /// Admission refused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<Block>,
    /// Promised to a worker that has not taken it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Grant>,
}

/// What the next claim of a runnable execution starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NextClaim {
    /// Index the attempt will have.
    pub attempt_index: u32,
    /// Type of the attempt; of the same one when it continues.
    pub kind: AttemptKind,
    /// The attempt on the record goes on; otherwise a new one starts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub continues: bool,
    /// Fallback tier.
    pub tier: u32,
    /// Time under confirmed leases the attempt has left.
    #[serde(rename = "timeout_ms", default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// It comes back from a satisfied suspension.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resumed: bool,
    /// Its last lease was revoked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub revoked: bool,
}

/// Not before this moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delay {
    /// The moment.
    pub until: Timestamp,
    /// Who asked for it.
    pub reason: DelayReason,
}

/// Why an execution is delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayReason {
    /// Submitted with `delay_until`, or delayed by its worker.
    Requested,
    /// Pause before a retry.
    RetryBackoff,
    /// Pause after a satisfied suspension.
    ResumeDelay,
}

/// Admission refused the execution; it waits in the index of its cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// What refused it.
    pub cause: Cause,
    /// Why, for a person.
    pub detail: String,
    /// Generation of the cause the refusal was read under.
    pub generation: u64,
    /// Since when.
    pub since: Timestamp,
}

/// What refuses admission: an account that is closed.
pub type Cause = AccountKey;

/// An operator's hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// Since when.
    pub since: Timestamp,
    /// Why, when a reason was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The inbound side of a flow member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dependencies {
    /// How the edges join.
    pub policy: EdgeGroupPolicy,
    /// An edge was applied: the policy can no longer change.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fixed: bool,
    /// As of the last evaluation the edges hold the execution back.
    #[serde(default, skip_serializing_if = "is_default")]
    pub waiting: bool,
    /// How many edges were still unsatisfied at the last evaluation; for a person, the counters decide.
    pub unsatisfied: u64,
    /// No applied edge hands its upstream's result over under a name, so whoever starts the execution need not look for any.
    #[serde(default, skip_serializing_if = "is_default")]
    pub no_results: bool,
}

/// Counts the policy compares with its limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "ExecutionCounts")
)]
pub struct Counts {
    /// Retries of this run; a replay starts again from zero.
    pub retries: u32,
    /// Reclaims of this run; a replay starts again from zero.
    pub reclaims: u32,
    /// Replays in its whole life.
    pub replays: u32,
    /// Leases in a row that came back without a single fenced call.
    pub unconfirmed_returns: u32,
    /// Signals accepted at waitpoints of its suspensions but for a person's decisions; those buffered at pending ones are
    /// counted beside the record.
    pub signals: u32,
}

/// What the worker last said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Progress {
    /// How much is done, 0 to 100 percent, as the worker said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pct: Option<u8>,
    /// In the worker's words, up to 4 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When the worker said so, on the store's clock.
    pub at: Timestamp,
}

/// The engine asks the lease holder to stop, and cancels at `cancel_at` if it does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StopRequest {
    /// For a person: which budget is above which of its limits.
    pub reason: String,
    /// When the execution is cancelled if it still runs: 30 s after it was asked.
    pub cancel_at: Timestamp,
}

/// Work a record owes to others; it is due until all of this is done, in bounded chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FollowUps {
    /// Ended: outbound edges to resolve.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resolve_edges: bool,
    /// Its group was decided: upstreams nobody else needs are to be cancelled.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cancel_siblings: bool,
    /// Replayed: outbound edges and skipped descendants to reopen before it may be claimed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reopen_edges: bool,
}

impl FollowUps {
    /// Whether anything is owed.
    pub const fn any(self) -> bool {
        self.resolve_edges || self.cancel_siblings || self.reopen_edges
    }
}

impl Execution {
    /// Adds to what it has used.
    pub(crate) fn add_usage(&mut self, deltas: &BTreeMap<Dimension, u64>) {
        for (dimension, delta) in deltas {
            if self.usage.len() < USAGE_DIMENSIONS_MAX || self.usage.contains_key(dimension) {
                let total = self.usage.entry(dimension.clone()).or_default();
                *total = total.saturating_add(*delta);
            }
        }
    }

    /// Takes back what was added before. The dimension keeps its place: what is summed does not depend on the order.
    pub(crate) fn take_back_usage(&mut self, deltas: &BTreeMap<Dimension, u64>) {
        for (dimension, delta) in deltas {
            if let Some(total) = self.usage.get_mut(dimension) {
                *total = total.saturating_sub(*delta);
            }
        }
    }

    /// The outcome, when it has ended.
    pub const fn outcome(&self) -> Option<&Outcome> {
        match &self.phase {
            Phase::Terminal(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Whether it has ended.
    pub const fn is_terminal(&self) -> bool {
        self.outcome().is_some()
    }

    /// The lease, while a worker has it.
    pub const fn lease(&self) -> Option<&Lease> {
        match &self.phase {
            Phase::Active(lease) => Some(lease),
            _ => None,
        }
    }

    /// The facts of the runnable phase.
    pub const fn runnable(&self) -> Option<&Runnable> {
        match &self.phase {
            Phase::Runnable(runnable) => Some(runnable),
            _ => None,
        }
    }

    /// The open suspension.
    pub const fn suspension(&self) -> Option<&Suspension> {
        match &self.phase {
            Phase::Suspended(suspension) => Some(suspension),
            _ => None,
        }
    }

    /// The grant somebody holds on it.
    pub fn grant(&self) -> Option<&Grant> {
        self.runnable()?.grant.as_ref()
    }

    /// Whether its retention is over and its parts are being deleted: reads answer that it is not there.
    pub fn is_deleting(&self) -> bool {
        self.outcome().is_some_and(|outcome| outcome.deleting)
    }

    /// Whether it was ever handed to a worker.
    pub const fn has_run(&self) -> bool {
        self.attempt.is_some()
    }

    /// Bytes of its result: it has one while its last end was a success that had one, also during a replay.
    pub fn result_bytes(&self) -> Option<u64> {
        self.success.filter(|success| !success.superseded)?.result_bytes
    }

    /// Whether its dependencies hold it back.
    pub fn waits_for_dependencies(&self) -> bool {
        self.unopened
            || self.follow_ups.reopen_edges
            || self.waits_for_cancelled_children()
            || self.dependencies.as_ref().is_some_and(|deps| deps.waiting)
    }

    /// Whether it was replayed before what its last run spawned was cancelled: what it spawns now must not be.
    pub const fn waits_for_cancelled_children(&self) -> bool {
        self.steps.spawned && self.follow_ups.cancel_siblings
    }
}
