//! What a handler has done already: record_steps, read_steps, and steps in tasks and replays.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{BudgetId, ExecutionId};
use crate::name::{Dimension, StepKey, WaitpointKey};
use crate::payload::Payload;
use crate::record::{Failure, Fence, OnHardLimit, ResumedBy, StepKind, StepState, StopRequest, is_default};
use crate::state::PublicState;
use crate::time::Timestamp;
use crate::view::SignalView;
use crate::wire;

/// Records steps under a lease, all of them or none, and renews it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordSteps {
    /// Proof of the lease, as the task carried it.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// What was done, 1 to 100, with 4 MiB of outputs together.
    pub steps: Vec<StepReport>,
    /// How far the work is; absent: as before.
    pub progress: Option<ProgressNote>,
}

/// How far the work is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgressNote {
    /// How much is done, 0 to 100 percent; absent: not said, also if it was said before.
    pub pct: Option<u8>,
    /// In the worker's words, up to 4 KiB; absent: none, also if there was one before.
    pub message: Option<String>,
}

/// One step as its worker reports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepReport {
    /// The worker's name for it, by which it is found when the handler asks for it again: up to 240 bytes.
    pub key: StepKey,
    /// What it did; absent: `run`. Sleeps are recorded by delay, waits by suspend.
    #[serde(default)]
    pub kind: StepKind,
    /// How far it has come; absent: `done`. `waiting` is what suspend records.
    #[serde(default)]
    pub state: StepState,
    /// What it gives whenever it is asked for, up to 1 MiB unless configured otherwise; absent: nothing.
    #[serde(rename = "output:bytes")]
    pub output: Option<Payload>,
    /// Why it failed: with `failed`, and with nothing else.
    pub failure: Option<Failure>,
    /// The worker's digest of what it was called with, up to 256 bytes.
    pub input_digest: Option<String>,
    /// The place of the step of this name that it replaces; absent: there must be none with other content.
    pub replaces_seq: Option<u64>,
    /// When its worker began it, on the store's clock as far as the worker knows it.
    pub started_at: Option<Timestamp>,
    /// What it cost, charged with the recording and once: at most 16 budgets in a call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usage: Vec<StepUsage>,
}

impl StepReport {
    /// A step that was done and left `output`, with nothing else said.
    pub fn done(key: StepKey, output: Option<Payload>) -> Self {
        Self {
            key,
            kind: StepKind::Run,
            state: StepState::Done,
            output,
            failure: None,
            input_digest: None,
            replaces_seq: None,
            started_at: None,
            usage: Vec::new(),
        }
    }
}

/// What a step cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepUsage {
    /// The budget to charge, of the execution's namespace.
    pub budget_id: BudgetId,
    /// What was spent, by dimension: 1 to 64 of them, in the units of their limits.
    pub deltas: BTreeMap<Dimension, u64>,
}

/// Asks for steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadSteps {
    /// From this place on: `next` of the page before; absent: from the beginning.
    pub from_seq: Option<u64>,
    /// At most this many; absent: 50, at most 1,000. A page has 4 MiB of outputs at most, unless the first one is larger.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::text::page))]
    pub limit: Option<usize>,
    /// Whether what they left comes along, which takes a submitter or the lease; absent: no.
    #[serde(default)]
    pub outputs: bool,
    /// Whether what replays have forgotten comes along, as far as nothing took its name since; absent: no.
    #[serde(default)]
    pub forgotten: bool,
}

/// Asks for what one step left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetStepOutput {
    /// The place of the step.
    pub seq: u64,
}

/// Some steps of an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepPage {
    /// The steps, in the order in which they were recorded. Those that a replay has forgotten are left out unless they are asked for.
    pub items: Vec<StepView>,
    /// Where to go on; absent: that was all.
    pub next: Option<u64>,
}

/// A step as it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepView {
    /// Its place among everything that was ever recorded for the execution, from 0.
    pub seq: u64,
    /// The worker's name for it.
    pub key: StepKey,
    /// What it does.
    pub kind: StepKind,
    /// How far it has come.
    pub state: StepState,
    /// A replay has forgotten it: its handler does it again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub forgotten: bool,
    /// The attempt that recorded it.
    pub attempt_index: u32,
    /// When it was recorded.
    pub recorded_at: Timestamp,
    /// When its worker began it, as the worker said.
    pub started_at: Option<Timestamp>,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// The size of what it left; absent: it left nothing.
    pub output_bytes: Option<u64>,
    /// What it left, if that was asked for.
    #[serde(rename = "output:bytes", skip_serializing_if = "Option::is_none")]
    pub output: Option<Payload>,
    /// The worker's digest of what it was called with, if outputs were asked for.
    pub input_digest: Option<String>,
    /// What it cost, by budget.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usage: Vec<StepUsage>,
    /// When a sleep is over.
    pub until: Option<Timestamp>,
    /// What ended a wait.
    pub resumed_by: Option<ResumedBy>,
    /// The signals that counted in a wait, in order, if outputs were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<StepSignalView>,
    /// The execution that was spawned.
    pub child: Option<ChildView>,
}

/// A signal that counted in a wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepSignalView {
    /// At which waitpoint it arrived; absent for the engine's own `timeout` signal.
    pub waitpoint_key: Option<WaitpointKey>,
    /// The signal with what came with it.
    #[serde(rename = "..signal")]
    pub signal: SignalView,
}

/// A spawned execution as it stands when the step is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChildView {
    /// Which execution.
    pub execution_id: ExecutionId,
    /// Where it stands; absent: it is not there any more.
    pub public_state: Option<PublicState>,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// What it was completed with, if outputs were asked for and its last end was a success.
    #[serde(rename = "result:bytes", skip_serializing_if = "Option::is_none")]
    pub result: Option<Payload>,
}

/// What a task brings of the steps of its execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskJournal {
    /// Steps that are recorded.
    pub count: u64,
    /// Bytes of their outputs.
    pub bytes: u64,
    /// The first of them with their outputs, in the order in which they were recorded.
    pub steps: Vec<StepView>,
    /// The place to read on from with read_steps; absent: that was all.
    pub next: Option<u64>,
}

/// What came of recording steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedSteps {
    /// What became of each, in order.
    pub steps: Vec<RecordedStep>,
    /// When the lease ends now unless renewed, on the store's clock.
    pub expires_at: Timestamp,
    /// Set while the worker is asked to stop, because a budget is used up.
    pub stop_requested: Option<StopRequest>,
    /// How the budgets stand that these steps name, those of steps recorded before included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<BudgetStanding>,
}

/// How a budget stands after it was charged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BudgetStanding {
    /// Which budget.
    pub budget_id: BudgetId,
    /// What it says.
    pub status: BudgetStatus,
    /// A hard limit is reached: nothing that names it is admitted before a reset or a higher limit.
    pub closed: bool,
    /// The execution's policy names it: given back, the execution waits for the budget.
    pub parks: bool,
    /// What the budget does to executions that run; absent: nobody could be asked.
    pub on_hard_limit: Option<OnHardLimit>,
}

/// What a budget says to what was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BudgetStatus {
    /// Within its limits.
    Ok,
    /// Above a soft limit.
    Soft,
    /// Above a hard limit.
    Hard,
    /// It could not be reached: it is charged as soon as it can be.
    Pending,
    /// It was deleted: charged nowhere.
    Gone,
    /// The namespace has no such budget: charged nowhere.
    NotFound,
}

/// What became of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedStep {
    /// Its place.
    pub seq: u64,
    /// Whether it was recorded by this call or before.
    pub status: StepStatus,
}

/// Whether a step was recorded by this call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// It is there now.
    Recorded,
    /// It was there before, with the same content.
    Already,
}

/// Which steps a replay keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum KeepSteps {
    /// Those that were done; what failed runs again.
    Done,
    /// None: everything runs again.
    None,
    /// Those recorded before this one, as far as they were done.
    Before(StepKey),
}
