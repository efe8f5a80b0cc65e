//! What a handler has done already: record_steps, read_steps.

use serde::{Deserialize, Serialize};

use crate::name::StepKey;
use crate::payload::Payload;
use crate::record::{Failure, Fence, StepKind, StepState, StopRequest};
use crate::time::Timestamp;
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
}

/// Some steps of an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepPage {
    /// The steps, in the order in which they were recorded. Those that a replay has forgotten are left out.
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
    #[serde(rename = "output:bytes")]
    pub output: Option<Payload>,
    /// The worker's digest of what it was called with, if outputs were asked for.
    pub input_digest: Option<String>,
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
