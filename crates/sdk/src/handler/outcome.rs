//! What a handler can return.

use std::time::Duration;

use ff_core::command::suspend::Suspend;
use ff_core::payload::Payload;

use crate::task_error::TaskError;

/// How a task goes on, for handlers that want the operations themselves.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<T> {
    /// The work is done, with this result.
    Done(T),
    /// The handler runs again, in the same attempt, when so much time has passed.
    Delay(Duration),
    /// Whoever is next goes on in the same attempt.
    Release,
    /// The handler runs again once the execution's dependencies hold.
    WaitChildren,
    /// The handler runs again once a condition over signals holds.
    Suspend(Box<Suspend>),
}

/// How a handler ended: its result is JSON before the codec has seen it.
pub type Ending = Result<Outcome<Payload>, TaskError>;

/// Something that a handler of a task with this output can return.
#[diagnostic::on_unimplemented(
    message = "a handler of a task whose output is `{O}` cannot return `{Self}`",
    label = "not something this task gives",
    note = "it returns `{O}`, `Result<{O}, E>`, `Outcome<{O}>` or `Result<Outcome<{O}>, E>`, where E is TaskError or any error"
)]
pub trait IntoOutcome<O> {
    /// What the task comes to.
    fn into_outcome(self) -> Result<Outcome<O>, TaskError>;
}

impl<O> IntoOutcome<O> for O {
    fn into_outcome(self) -> Result<Outcome<O>, TaskError> {
        Ok(Outcome::Done(self))
    }
}

impl<O> IntoOutcome<O> for Outcome<O> {
    fn into_outcome(self) -> Result<Outcome<O>, TaskError> {
        Ok(self)
    }
}

impl<O, E: Into<TaskError>> IntoOutcome<O> for Result<O, E> {
    fn into_outcome(self) -> Result<Outcome<O>, TaskError> {
        self.map(Outcome::Done).map_err(Into::into)
    }
}

impl<O, E: Into<TaskError>> IntoOutcome<O> for Result<Outcome<O>, E> {
    fn into_outcome(self) -> Result<Outcome<O>, TaskError> {
        self.map_err(Into::into)
    }
}

impl<T> Outcome<T> {
    /// The same with the result as something else.
    pub(crate) fn try_map<U, E>(self, result: impl FnOnce(T) -> Result<U, E>) -> Result<Outcome<U>, E> {
        Ok(match self {
            Self::Done(value) => Outcome::Done(result(value)?),
            Self::Delay(pause) => Outcome::Delay(pause),
            Self::Release => Outcome::Release,
            Self::WaitChildren => Outcome::WaitChildren,
            Self::Suspend(suspend) => Outcome::Suspend(suspend),
        })
    }
}
