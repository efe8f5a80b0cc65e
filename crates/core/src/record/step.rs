//! Steps: what a handler has done already and need not do again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Carried, Failure, ResumedBy, is_default};
use crate::id::{BudgetId, ExecutionId, SignalId};
use crate::name::{Dimension, StepKey, WaitpointKey};
use crate::time::Timestamp;

/// One step of an execution, under the worker's own name for it. Its output is a blob beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Whose it is.
    pub execution_id: ExecutionId,
    /// The worker's name for it: there is one step of a name.
    pub key: StepKey,
    /// Its place among everything that was ever recorded for the execution, from 0; never used twice.
    pub seq: u64,
    /// What it does.
    pub kind: StepKind,
    /// How far it has come.
    pub state: StepState,
    /// The attempt that recorded it.
    pub attempt_index: u32,
    /// The lease it was recorded under.
    pub lease_epoch: u64,
    /// When it was recorded.
    pub recorded_at: Timestamp,
    /// When its worker began it, as the worker said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// The size of its output; absent: it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    /// Digest of what was recorded, by which a repetition is known.
    pub content_digest: String,
    /// The worker's digest of what it was called with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_digest: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// What it cost, by budget.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub usage: BTreeMap<BudgetId, BTreeMap<Dimension, u64>>,
    /// When a sleep is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// What ended a wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed_by: Option<ResumedBy>,
    /// The signals that counted in a wait, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<StepSignal>,
    /// The execution that was spawned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<ExecutionId>,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}

/// What a step does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Runs a function of the worker's.
    #[default]
    Run,
    /// Sleeps without a lease.
    Sleep,
    /// Waits for signals without a lease.
    Wait,
    /// Starts another execution.
    Spawn,
}

/// How far a step has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// It was begun, and whether it was done nobody knows.
    Started,
    /// Its suspension is open.
    Waiting,
    /// It was done: its output is what it gives whenever it is asked for.
    #[default]
    Done,
    /// It failed in a way that trying again would not mend.
    Failed,
}

/// A signal that counted in a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepSignal {
    /// Which signal.
    pub signal_id: SignalId,
    /// At which waitpoint it arrived; absent for the engine's own `timeout` signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waitpoint_key: Option<WaitpointKey>,
}

/// What an execution knows of its steps; they are records of their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Journal {
    /// Steps that are remembered.
    pub count: u64,
    /// Bytes of their outputs.
    pub bytes: u64,
    /// The place of the next one.
    pub next_seq: u64,
    /// What replays forgot, oldest first: a step that one of these names counts as not recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<Forgotten>,
    /// Other executions were spawned: they do not outlive its failure.
    #[serde(skip_serializing_if = "is_default")]
    pub spawned: bool,
}

/// What one replay forgot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// Steps from this place on,
    pub from: u64,
    /// and before this one.
    pub before: u64,
    /// Only those among them that failed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failed_only: bool,
}

impl Journal {
    /// Whether a replay has forgotten this step.
    pub fn has_forgotten(&self, step: &Step) -> bool {
        let is_meant = |forgotten: &Forgotten| {
            forgotten.holds(step) && (!forgotten.failed_only || step.state == StepState::Failed)
        };
        self.forgotten.iter().any(is_meant)
    }

    /// Whether a replay has forgotten this step if what it started ended other than by success.
    pub fn has_forgotten_failure(&self, step: &Step) -> bool {
        self.forgotten.iter().any(|forgotten| forgotten.holds(step))
    }
}

impl Forgotten {
    fn holds(&self, step: &Step) -> bool {
        (self.from..self.before).contains(&step.seq)
    }
}
