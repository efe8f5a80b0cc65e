//! Which functions are handlers.

use std::marker::PhantomData;

use ff_core::payload::Payload;
use futures::future::BoxFuture;

use super::arguments::{Arguments, Function, TaskArguments};
use super::given::{Given, Needs};
use super::outcome::{Ending, IntoOutcome};
use crate::json;
use crate::task::Task;
use crate::task_error::TaskError;

/// An async function that runs a task: its first argument is [`Input`](super::Input), which says what task that is.
///
/// ```
/// use ff_sdk::{Ctx, Handler, Input, Task, TaskError, TaskLimits};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize)]
/// # struct Hello { name: String }
/// # impl Task for Hello { const KIND: &'static str = "hello"; type Output = String; type Inputs = (); }
///
/// async fn hello(Input(job): Input<Hello>, ctx: Ctx) -> Result<String, TaskError> {
///     Ok(format!("hello {} from {}", job.name, ctx.id()))
/// }
///
/// let at_most_four = hello.with(TaskLimits { concurrency: 4 });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler of a task",
    label = "not a handler",
    note = "a handler is an async function whose first argument is Input<T>, which says what task it runs"
)]
pub trait Handler<Args>: Clone + Send + Sync + Sized + 'static {
    /// The task it runs.
    type Task: Task;

    /// What it needs of its worker.
    fn needs() -> Needs;

    /// How many of it run at once in one worker.
    fn limits(&self) -> Option<TaskLimits> {
        None
    }

    /// Runs it.
    fn call(self, given: Given) -> BoxFuture<'static, Ending>;

    /// The same handler, of which a worker runs only so many at once.
    fn with(self, limits: TaskLimits) -> Limited<Self, Args> {
        Limited {
            handler: self,
            limits,
            args: PhantomData,
        }
    }
}

/// An async function that runs whatever it is registered for, and works on bytes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler of bytes",
    label = "not a handler of bytes",
    note = "a handler of bytes is an async function with up to eight arguments, such as Raw and Ctx, that returns Payload or Result<Payload, E>"
)]
pub trait RawHandler<Args>: Clone + Send + Sync + Sized + 'static {
    /// What it needs of its worker.
    fn needs() -> Needs;

    /// Runs it.
    fn call(self, given: Given) -> BoxFuture<'static, Ending>;
}

/// What a worker does at most at once of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskLimits {
    /// Tasks that run at once. What exceeds it is put off and comes back.
    pub concurrency: usize,
}

/// A handler with limits.
pub struct Limited<H, Args> {
    handler: H,
    limits: TaskLimits,
    args: PhantomData<fn(Args)>,
}

impl<H: Clone, Args> Clone for Limited<H, Args> {
    fn clone(&self) -> Self {
        Self {
            handler: self.handler.clone(),
            limits: self.limits,
            args: PhantomData,
        }
    }
}

impl<H: Handler<Args>, Args: 'static> Handler<(Limits, Args)> for Limited<H, Args> {
    type Task = H::Task;

    fn needs() -> Needs {
        H::needs()
    }

    fn limits(&self) -> Option<TaskLimits> {
        Some(self.limits)
    }

    fn call(self, given: Given) -> BoxFuture<'static, Ending> {
        self.handler.call(given)
    }
}

/// Tells the arguments of a limited handler from those of a function.
pub struct Limits(());

impl<F, Args> Handler<Args> for F
where
    F: Function<Args>,
    F::Running: Send + 'static,
    F::Returned: IntoOutcome<<Args::Task as Task>::Output>,
    Args: TaskArguments,
{
    type Task = Args::Task;

    fn needs() -> Needs {
        Args::needs()
    }

    fn call(self, given: Given) -> BoxFuture<'static, Ending> {
        Box::pin(async move {
            let ended = self.run(Args::take(&given)?).await;
            let outcome = IntoOutcome::<<Args::Task as Task>::Output>::into_outcome(ended)?;
            outcome.try_map(|output| write::<Args::Task>(&output))
        })
    }
}

impl<F, Args> RawHandler<Args> for F
where
    F: Function<Args>,
    F::Running: Send + 'static,
    F::Returned: IntoOutcome<Payload>,
    Args: Arguments,
{
    fn needs() -> Needs {
        Args::needs()
    }

    fn call(self, given: Given) -> BoxFuture<'static, Ending> {
        Box::pin(async move { self.run(Args::take(&given)?).await.into_outcome() })
    }
}

fn write<T: Task>(output: &T::Output) -> Result<Payload, TaskError> {
    let unwritable = |error| TaskError::permanent(format!("the result of {:?} has no JSON form: {error}", T::KIND));
    json::write(output).map_err(unwritable)
}
