//! What a handler can be given.

use std::any::type_name;

use ff_core::payload::Payload;
use ff_core::policy::FallbackTier;
use ff_core::record::AttemptKind;

use super::given::{Given, Needs};
use crate::ctx::Ctx;
use crate::json;
use crate::task::Task;
use crate::task_error::TaskError;

/// Something that can be an argument of a handler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a handler",
    label = "not something a task can give",
    note = "a handler's first argument is Input<T>, which says what task it runs; the others are Inputs<T>, Raw, State<S>, Ctx, Attempt, Tier, Tags, or Option of one of these"
)]
pub trait FromTask: Sized + Send + 'static {
    /// What it needs of the worker, asked before anything runs.
    fn needs(_: &mut Needs) {}

    /// Takes it from the task.
    fn from_task(given: &Given) -> Result<Self, NotGiven>;
}

/// Why a task does not give what a handler asks for.
#[derive(Debug)]
pub enum NotGiven {
    /// It has none: an `Option` is then `None`.
    Absent(TaskError),
    /// It has something else.
    Unreadable(TaskError),
}

impl From<NotGiven> for TaskError {
    fn from(not_given: NotGiven) -> Self {
        match not_given {
            NotGiven::Absent(error) | NotGiven::Unreadable(error) => error,
        }
    }
}

/// What the task was submitted with. As the first argument it says which task a handler runs.
#[derive(Clone, Debug)]
pub struct Input<T>(pub T);

impl<T: Task> FromTask for Input<T> {
    fn from_task(given: &Given) -> Result<Self, NotGiven> {
        let read = json::read(given.input()).map_err(|problem| {
            let (kind, wanted) = (given.task().kind(), type_name::<T>());
            TaskError::permanent(format!("the input of this {kind:?} is no {wanted}: it {problem}"))
        });
        read.map(Self).map_err(NotGiven::Unreadable)
    }
}

/// The results of its upstreams.
#[derive(Clone, Debug)]
pub struct Inputs<T: Task>(pub T::Inputs);

impl<T: Task> FromTask for Inputs<T> {
    fn needs(needs: &mut Needs) {
        needs.inputs();
    }

    fn from_task(given: &Given) -> Result<Self, NotGiven> {
        use crate::inputs::{FromInputs, InputError};
        T::Inputs::from_inputs(given.inputs()).map(Self).map_err(|error| {
            let told = TaskError::permanent(format!("a {:?} cannot begin: {error}", given.task().kind()));
            match error {
                InputError::Missing { .. } => NotGiven::Absent(told),
                InputError::Unreadable { .. } => NotGiven::Unreadable(told),
            }
        })
    }
}

/// The bytes the task was submitted with, as the codec gave them back, and their content type.
#[derive(Clone, Debug)]
pub struct Raw(pub Payload);

impl FromTask for Raw {
    fn from_task(given: &Given) -> Result<Self, NotGiven> {
        Ok(Self(given.input().clone()))
    }
}

/// A value that all handlers of the worker share.
#[derive(Clone, Debug)]
pub struct State<S>(pub S);

impl<S: Clone + Send + Sync + 'static> FromTask for State<S> {
    fn needs(needs: &mut Needs) {
        needs.state::<S>();
    }

    fn from_task(given: &Given) -> Result<Self, NotGiven> {
        let absent = || {
            let (kind, wanted) = (given.task().kind(), type_name::<S>());
            let told = format!("the worker has no state of type {wanted}, which its handler of {kind:?} takes");
            NotGiven::Absent(TaskError::permanent(told))
        };
        given.state().map(Self).ok_or_else(absent)
    }
}

impl FromTask for Ctx {
    fn from_task(given: &Given) -> Result<Self, NotGiven> {
        Ok(given.ctx().clone())
    }
}

/// Which run of the execution this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// From 0. Going on after a wait, a sleep or a release is the same run.
    pub index: u32,
    /// Why it started.
    pub kind: AttemptKind,
}

impl FromTask for Attempt {
    fn from_task(given: &Given) -> Result<Self, NotGiven> {
        Ok(Self {
            index: given.task().attempt(),
            kind: given.task().attempt_kind(),
        })
    }
}

/// The provider and model to use, by the policy's fallback.
#[derive(Clone, Debug, PartialEq)]
pub struct Tier(pub FallbackTier);

impl FromTask for Tier {
    fn from_task(given: &Given) -> Result<Self, NotGiven> {
        let absent = || {
            let id = given.task().id();
            let told = format!("execution {id} was submitted without tiers: submit it with some, or take Option<Tier>");
            NotGiven::Absent(TaskError::permanent(told))
        };
        given.task().tier().cloned().map(Self).ok_or_else(absent)
    }
}

/// The labels of the execution, as they were when it was claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tags(pub ff_core::record::Tags);

impl FromTask for Tags {
    fn from_task(given: &Given) -> Result<Self, NotGiven> {
        Ok(Self(given.task().tags().clone()))
    }
}

impl<X: FromTask> FromTask for Option<X> {
    fn needs(needs: &mut Needs) {
        let mut wished = Needs::default();
        X::needs(&mut wished);
        needs.inputs |= wished.inputs;
    }

    fn from_task(given: &Given) -> Result<Self, NotGiven> {
        match X::from_task(given) {
            Ok(found) => Ok(Some(found)),
            Err(NotGiven::Absent(_)) => Ok(None),
            Err(unreadable) => Err(unreadable),
        }
    }
}
