//! One run of an execution.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{BreachKind, Carried};
use crate::id::{AttemptId, BudgetId};
use crate::machine::decided::ClosedReason;
use crate::name::{Category, Dimension, WorkerId, WorkerInstanceId};
use crate::time::{Duration, Timestamp};

/// One run. The current one stands on the execution; it becomes a record of its own when another follows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attempt {
    /// From 0, in the order of their starts.
    pub index: u32,
    /// Minted when it starts; part of the fence of its leases.
    pub id: AttemptId,
    /// Why it started.
    pub kind: AttemptKind,
    /// Who runs it, or ran it last.
    #[serde(rename = "worker_id")]
    pub worker: WorkerId,
    /// In which process slot of that worker.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// Epoch of its latest lease, which grows from lease to lease of the execution.
    pub lease_epoch: u64,
    /// When it first got a lease.
    pub started_at: Timestamp,
    /// Time of its leases that were confirmed and have ended.
    #[serde(rename = "leased_ms")]
    pub leased: Duration,
    /// Fallback tier it runs on: from 0, one more with each retry; past the last tier, that one repeats.
    pub tier: u32,
    /// Usage it reported, by budget and dimension.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub usage: BTreeMap<BudgetId, BTreeMap<Dimension, u64>>,
    /// The limits its reports were the first of it to pass.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub breached: BTreeSet<(BudgetId, Dimension, BreachKind)>,
    /// How it ended; absent while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<AttemptEnd>,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}

/// Why an attempt started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttemptKind {
    /// The first one of its execution.
    Initial,
    /// The one before failed.
    Retry,
    /// The one before lost its worker.
    Reclaim,
    /// A terminal execution was reopened.
    Replay,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttemptEnd {
    /// When it ended, on the store's clock.
    pub at: Timestamp,
    /// In which of the four ways.
    pub state: AttemptEndState,
    /// Why its output ended; a stream without a frame is nowhere else.
    pub closed: ClosedReason,
    /// What went wrong; absent when nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// The four ways an attempt ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttemptEndState {
    /// The work was done.
    EndedSuccess,
    /// It failed.
    EndedFailure,
    /// The execution was cancelled.
    EndedCancelled,
    /// Its worker was lost and another takes over.
    InterruptedReclaimed,
}

/// What went wrong, in the worker's or the engine's words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// What went wrong, for a person: up to 4 KiB from a worker.
    pub reason: String,
    /// What the retry policy went by; `timeout` when the attempt ran too long.
    pub category: Category,
}
