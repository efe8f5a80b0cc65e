//! What is counted over the members of a flow, and the state that follows from it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::record::{Flow, FlowCounter, GateState};
use crate::state::PublicState;

/// The counters of a flow as they were loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "MemberCounts"))]
pub struct Counts {
    /// All members.
    pub members: u64,
    /// Members that have not ended.
    pub open: u64,
    /// Members by public state; a state nobody is in may be left out.
    pub states: BTreeMap<PublicState, u64>,
}

impl Counts {
    /// Collects the counters of a flow; `value` reads one of them.
    pub fn read(value: impl Fn(FlowCounter) -> i64) -> Self {
        let count = |counter| u64::try_from(value(counter)).unwrap_or(0);
        let states = PublicState::ALL
            .iter()
            .map(|state| (*state, count(FlowCounter::State(*state))));
        Self {
            members: count(FlowCounter::Members),
            open: count(FlowCounter::Open),
            states: states.filter(|(_, members)| *members > 0).collect(),
        }
    }

    /// Members in this state.
    pub fn of(&self, state: PublicState) -> u64 {
        self.states.get(&state).copied().unwrap_or(0)
    }

    fn any(&self, states: &[PublicState]) -> bool {
        states.iter().any(|state| self.of(*state) > 0)
    }
}

/// A flow as its rules need it: the record, its gate and its counters, loaded together.
#[derive(Clone, Copy, Debug)]
pub struct Loaded<'a> {
    /// The flow.
    pub flow: &'a Flow,
    /// Where its gate stands.
    pub gate: GateState,
    /// What is counted over its members.
    pub counts: &'a Counts,
}

/// The derived state of a flow. Completed and failed are reversible: a member added or replayed makes it running again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FlowState {
    /// It has no members yet, or they are not let go yet.
    Open,
    /// A member runs, may be handed out, or goes on by itself when its delay is over.
    Running,
    /// Members are open, but each waits for something else: a signal, a dependency, a budget or a quota.
    Blocked,
    /// Every member ended well.
    Completed,
    /// Every member ended, not all of them well.
    Failed,
    /// It was cancelled with its members. A sealed flow is not: its members go on and decide.
    Cancelled,
}

impl FlowState {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            FlowState::Open => "open",
            FlowState::Running => "running",
            FlowState::Blocked => "blocked",
            FlowState::Completed => "completed",
            FlowState::Failed => "failed",
            FlowState::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for FlowState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Derives the state of a flow from its gate and its counters.
pub fn state(gate: GateState, counts: &Counts) -> FlowState {
    use PublicState as S;
    match gate {
        GateState::Cancelled => FlowState::Cancelled,
        GateState::Assembling => FlowState::Open,
        GateState::Open | GateState::Sealed if counts.members == 0 => FlowState::Open,
        GateState::Open | GateState::Sealed if counts.open == 0 => {
            let badly = counts.any(&[S::Failed, S::Cancelled, S::Expired, S::Skipped]);
            if badly { FlowState::Failed } else { FlowState::Completed }
        }
        GateState::Open | GateState::Sealed => {
            let moving = counts.any(&[S::Active, S::Waiting, S::Resumable, S::Delayed]);
            if moving { FlowState::Running } else { FlowState::Blocked }
        }
    }
}
