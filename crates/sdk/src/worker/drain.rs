//! How a worker ends.

use std::time::Duration;

/// How a worker ends once it is told to: it asks for nothing more, gives back what has not begun, and lets handlers go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drain {
    /// How long handlers may go on as if nothing were.
    pub timeout: Duration,
    /// What happens to those that still run then.
    pub then: DrainThen,
}

/// What happens to handlers that still run when the time of a drain is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrainThen {
    /// The next step a handler asks for does not start, and the task is given back: another worker goes on from there. A handler
    /// without steps runs to its end.
    AtStep,
    /// Handlers are told to stop, dropped five seconds later, and their tasks given back.
    Drop,
}

/// The variable by which whoever starts a worker says how it ends, unless its code does.
const VARIABLE: &str = "FF_DRAIN";

impl Drain {
    /// As the environment says: `FF_DRAIN=at_step` where workers are replaced often, as `ff dev` does whenever code changes.
    pub(super) fn from_environment() -> Self {
        match std::env::var(VARIABLE).as_deref() {
            Ok("at_step") => Self::AT_STEP,
            _ => Self::default(),
        }
    }

    /// No handler begins another step from the first moment on.
    pub const AT_STEP: Self = Self {
        timeout: Duration::ZERO,
        then: DrainThen::AtStep,
    };
}

impl Default for Drain {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            then: DrainThen::AtStep,
        }
    }
}
