//! An end that was no success.

use std::fmt;

use ff_core::id::ExecutionId;
use ff_core::record::Failure;
use ff_core::state::PublicState;
use ff_core::view::ExecutionView;

/// An execution that has ended without success: failed, cancelled, expired or skipped.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Which one.
    pub execution_id: ExecutionId,
    /// How it ended.
    pub state: PublicState,
    /// Why it was cancelled, expired or skipped.
    pub reason: Option<String>,
    /// What went wrong in its last attempt, if it failed.
    pub failure: Option<Failure>,
    /// How many attempts were started.
    pub attempts: u32,
}

impl Ended {
    /// The end an execution has come to; `None` while it is open.
    pub(super) fn of(view: ExecutionView) -> Option<Self> {
        let state = view.state.public_state;
        state.is_terminal().then_some(Self {
            execution_id: view.execution_id,
            state,
            reason: view.reason,
            failure: view.failure,
            attempts: view.attempt_count,
        })
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            execution_id,
            state,
            attempts,
            ..
        } = self;
        let plural = if *attempts == 1 { "" } else { "s" };
        write!(
            f,
            "execution {execution_id} ended as {state} after {attempts} attempt{plural}"
        )?;
        if let Some(Failure { category, reason }) = &self.failure {
            write!(f, ": {category}: {reason}")?;
        } else if let Some(reason) = &self.reason {
            write!(f, ": {reason}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Ended {}
