//! What a rule may know besides the records and the command.

use super::steps::Around;
use crate::record::{Actor, GateState};
use crate::time::{Duration, Timestamp};
use crate::trace::TraceParent;

/// Time, luck, the caller and the surroundings of one decision.
#[derive(Clone, Debug)]
pub struct Context {
    /// The store's time.
    pub now: Timestamp,
    /// Fresh randomness, for jitter.
    pub dice: u64,
    /// Who asks.
    pub actor: Actor,
    /// The gate of the execution's flow as it was loaded with the execution; `None` for a solo execution.
    pub gate: Option<GateState>,
    /// The trace the request is part of.
    pub trace: Option<TraceParent>,
    /// What was read for the steps of the call.
    pub steps: Around,
    /// The engine's settings.
    pub settings: Settings,
}

/// The settings of the engine that rules depend on.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How long an expired lease waits before its execution goes back to its lane.
    pub reclaim_grace: Duration,
    /// Largest payload or result.
    pub payload_bytes_max: usize,
    /// Most steps of an execution that are remembered.
    pub steps_max: u64,
    /// Most bytes that these leave together.
    pub step_output_bytes_max: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            reclaim_grace: Duration::ZERO,
            payload_bytes_max: crate::limits::PAYLOAD_BYTES_DEFAULT,
            steps_max: crate::limits::STEPS_DEFAULT,
            step_output_bytes_max: crate::limits::STEP_OUTPUT_BYTES_DEFAULT,
        }
    }
}

impl Context {
    /// A decision of the engine itself at `now`, with default settings and no luck.
    pub fn engine(now: Timestamp) -> Self {
        Self {
            now,
            dice: 0,
            actor: Actor::Engine,
            gate: None,
            trace: None,
            steps: Around::default(),
            settings: Settings::default(),
        }
    }
}
