//! Functions and their arguments, each told apart, so that the compiler can say which of them is wrong.

use super::extract::{FromTask, Input};
use super::given::{Given, Needs};
use crate::task::Task;
use crate::task_error::TaskError;

/// An async function of these arguments, whatever they are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler: a handler is an async function of up to eight arguments",
    label = "not an async function of up to eight arguments",
    note = "the first argument of a handler of a task is Input<T>, which says what task it runs"
)]
pub trait Function<Args>: Clone + Send + Sync + 'static {
    /// What it returns.
    type Returned;
    /// A run of it.
    type Running: Future<Output = Self::Returned>;

    /// Runs it.
    fn run(self, arguments: Args) -> Self::Running;
}

/// Arguments that a task gives: each of them is something that can be taken from it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a handler",
    label = "not the arguments of a handler"
)]
pub trait Arguments: Sized + Send {
    /// What they need of the worker.
    fn needs() -> Needs;

    /// Takes them from the task.
    fn take(given: &Given) -> Result<Self, TaskError>;
}

/// Arguments of which the first says what task it is.
pub trait TaskArguments: Arguments {
    /// The task.
    type Task: Task;
}

/// The first argument of a handler of a task.
#[diagnostic::on_unimplemented(
    message = "the first argument of a handler is Input<T>, which says what task it runs, and not `{Self}`",
    label = "its first argument is not Input<T>",
    note = "after it may come Inputs<T>, Raw, State<S>, Ctx, Attempt, Tier, Tags, or Option of one of these",
    note = "a handler of bytes, without Input<T>, is registered with .on(kind, handler)"
)]
pub trait FirstArgument {
    /// The task.
    type Task: Task;
}

impl<T: Task> FirstArgument for Input<T> {
    type Task = T;
}

macro_rules! function {
    ($($arg:ident)*) => {
        impl<F, Fut, $($arg),*> Function<($($arg,)*)> for F
        where
            F: Fn($($arg),*) -> Fut + Clone + Send + Sync + 'static,
            Fut: Future,
        {
            type Returned = Fut::Output;
            type Running = Fut;

            #[allow(non_snake_case, reason = "an argument is called as its type is")]
            fn run(self, ($($arg,)*): ($($arg,)*)) -> Fut {
                self($($arg),*)
            }
        }

        impl<$($arg: FromTask),*> Arguments for ($($arg,)*) {
            fn needs() -> Needs {
                #[allow(unused_mut, reason = "a function without arguments needs nothing")]
                let mut needs = Needs::default();
                $($arg::needs(&mut needs);)*
                needs
            }

            #[allow(unused_variables, reason = "a function without arguments is given nothing")]
            fn take(given: &Given) -> Result<Self, TaskError> {
                Ok(($($arg::from_task(given)?,)*))
            }
        }
    };
}

macro_rules! of_task {
    ($($arg:ident)*) => {
        impl<First: FirstArgument + FromTask, $($arg: FromTask),*> TaskArguments for (First, $($arg,)*) {
            type Task = First::Task;
        }
    };
}

macro_rules! up_to_eight {
    ($first:ident $($arg:ident)*) => {
        function!($first $($arg)*);
        of_task!($($arg)*);
        up_to_eight!($($arg)*);
    };
    () => {
        function!();
    };
}

up_to_eight!(A1 A2 A3 A4 A5 A6 A7 A8);
