//! The states of executions and gates as words, for columns and fields that people read and stores compare.

use ff_core::record::GateState;
use ff_core::state::PublicState;

use super::{Result, Unreadable};

/// Every state a gate can have.
pub const GATES: [GateState; 4] = [
    GateState::Assembling,
    GateState::Open,
    GateState::Sealed,
    GateState::Cancelled,
];

/// The word for the state of a gate.
pub const fn gate_word(state: GateState) -> &'static str {
    match state {
        GateState::Assembling => "assembling",
        GateState::Open => "open",
        GateState::Sealed => "sealed",
        GateState::Cancelled => "cancelled",
    }
}

/// The state of a gate a word stands for.
pub fn gate(word: &str) -> Result<GateState> {
    let state = GATES.into_iter().find(|state| gate_word(*state) == word);
    state.ok_or_else(|| Unreadable::new(format_args!("gate state {word:?}")))
}

/// The state of an execution a word stands for.
pub fn execution(word: &str) -> Result<PublicState> {
    let state = PublicState::ALL.iter().copied().find(|state| state.as_str() == word);
    state.ok_or_else(|| Unreadable::new(format_args!("state {word:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_gate_is_read_again_and_is_the_word_of_its_record() {
        for state in GATES {
            assert_eq!(gate(gate_word(state)), Ok(state));
            assert_eq!(serde_json::to_value(state).ok(), Some(gate_word(state).into()));
        }
        assert!(gate("ajar").is_err());
    }

    #[test]
    fn every_state_of_an_execution_is_read_again() {
        for state in PublicState::ALL {
            assert_eq!(execution(state.as_str()), Ok(*state));
        }
        assert!(execution("").is_err());
    }
}
