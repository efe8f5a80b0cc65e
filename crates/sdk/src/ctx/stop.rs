//! Why a handler is asked to stop.

use std::fmt;

/// Why a handler is asked to stop. What it returns then is not a failure of the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The execution was cancelled, or ended in another way.
    Cancelled,
    /// A budget is used up; the text says which one.
    Budget(String),
    /// The lease is over: somebody else may be running the task.
    LeaseLost,
    /// The worker is shutting down: another one goes on from here.
    Draining,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("stopped: the execution has ended"),
            Self::Budget(reason) => write!(f, "stopped: {reason}"),
            Self::LeaseLost => f.write_str("stopped: the lease is over"),
            Self::Draining => f.write_str("stopped: the worker is shutting down"),
        }
    }
}

/// What a task is told by its worker's loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Halt {
    pub(crate) stop: Stop,
    /// The time to stop by itself is over.
    pub(crate) drop_now: bool,
}
