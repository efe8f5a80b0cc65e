//! Why an execution is not running.

use serde::{Deserialize, Serialize};

use super::StateView;
use crate::id::ExecutionId;
use crate::name::WorkerInstanceId;

/// Every condition between an execution and a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// The one that was asked about.
    pub execution_id: ExecutionId,
    /// Where it stands, with the reason that is shown first.
    pub state: StateView,
    /// Each condition with its current value, in the order they are shown. Empty once it has ended.
    pub conditions: Vec<Condition>,
    /// Live workers of its lane that lack the fewest capabilities, at most 5.
    pub nearest_workers: Vec<NearestWorker>,
}

/// One condition between an execution and a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Condition {
    /// What it is about; of some there may be several, such as budgets.
    pub hindrance: Hindrance,
    /// Whether it holds the execution back now.
    pub blocks: bool,
    /// Its current value, for a person.
    pub detail: String,
}

/// What can stand between an execution and a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Hindrance {
    /// An operator holds it.
    Hold,
    /// A suspension waits for signals.
    Suspension,
    /// A worker has it, or was promised it.
    Ownership,
    /// A delay or backoff is not over.
    Delay,
    /// Inbound edges of its flow that are not satisfied.
    Dependencies,
    /// Its flow is not open yet, or cancelled.
    FlowGate,
    /// Its lane hands nothing out.
    Lane,
    /// One of its budgets is used up.
    Budget,
    /// Its quota has no free slot, or no room in its window.
    Quota,
    /// No live worker offers what it requires.
    Capabilities,
}

/// A live worker and what it lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NearestWorker {
    /// The process slot it registered for.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// Required capabilities it does not offer; none when it could take the execution.
    pub missing: Vec<String>,
}
