//! Submitting: one task, or many in one call.

mod batch;
mod child;
mod draft;

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use ff_core::id::ExecutionId;
use ff_core::name::IdempotencyKey;

use crate::client::Client;
use crate::error::Result;
use crate::options::{TaskOptions, option_methods};
use crate::run::Run;
use crate::task::Task;

pub use self::batch::RunOf;
pub(crate) use self::draft::{Draft, Written};

/// A task with what one submission of it says besides. A task alone is one too.
///
/// ```
/// # use ff_sdk::{Submission, Task, TaskOptions};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize)]
/// # struct Resize { image: String }
/// # impl Task for Resize { const KIND: &'static str = "resize"; type Output = (); type Inputs = (); }
/// let job = Submission::new(Resize { image: "cat.png".into() }).priority(10).idempotency_key("cat");
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Submission<T> {
    pub(crate) task: T,
    pub(crate) options: TaskOptions,
    pub(crate) said: Said,
}

/// What only one submission can say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    execution_id: Option<ExecutionId>,
    key: Option<String>,
    delay: Option<Duration>,
    delay_until: Option<SystemTime>,
    deadline_at: Option<SystemTime>,
    accept_other_content: bool,
}

impl<T: Task> Submission<T> {
    /// A submission of `task` as its type says it is run.
    pub fn new(task: T) -> Self {
        Self {
            task,
            options: T::options(),
            said: Said::default(),
        }
    }

    fn adjust(mut self, change: impl FnOnce(TaskOptions) -> TaskOptions) -> Self {
        self.options = change(self.options);
        self
    }

    fn say(mut self, change: impl FnOnce(&mut Said)) -> Self {
        change(&mut self.said);
        self
    }
}

impl<T: Task> From<T> for Submission<T> {
    fn from(task: T) -> Self {
        Self::new(task)
    }
}

/// What can be submitted: a task, or a [`Submission`] of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a task",
    label = "this is not a task",
    note = "a task is the type of what the work is given: put `#[derive(Serialize, Deserialize, Task)]` and `#[task(kind = \"…\", output = …)]` on it"
)]
pub trait IntoSubmission {
    /// The task that is submitted.
    type Task: Task;

    /// The task with what its submission says besides.
    fn into_submission(self) -> Submission<Self::Task>;
}

impl<T: Task> IntoSubmission for T {
    type Task = T;

    fn into_submission(self) -> Submission<T> {
        Submission::new(self)
    }
}

impl<T: Task> IntoSubmission for Submission<T> {
    type Task = T;

    fn into_submission(self) -> Self {
        self
    }
}

/// A submission on its way: await it to send it.
///
/// ```no_run
/// # use ff_sdk::{Client, Task, mins, hours};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize)]
/// # struct Summarize { url: String }
/// # impl Task for Summarize { const KIND: &'static str = "summarize"; type Output = String; type Inputs = (); }
/// # async fn example(ff: Client) -> ff_sdk::Result<()> {
/// let run = ff
///     .submit(Summarize { url: "https://example.org".into() })
///     .idempotency_key("order-42")
///     .tag("tenant", "a")
///     .delay(mins(5))
///     .deadline(hours(2))
///     .await?;
/// println!("{}", run.result().await?);
/// # Ok(())
/// # }
/// ```
#[must_use = "a submission does nothing until it is awaited"]
pub struct Submit<T> {
    client: Client,
    submission: Submission<T>,
}

impl<T: Task> Submit<T> {
    fn adjust(mut self, change: impl FnOnce(TaskOptions) -> TaskOptions) -> Self {
        self.submission = self.submission.adjust(change);
        self
    }

    fn say(mut self, change: impl FnOnce(&mut Said)) -> Self {
        self.submission = self.submission.say(change);
        self
    }
}

/// What one submission says besides how its task is run, for every builder of one.
macro_rules! submission_methods {
    ($builder:ident) => {
        impl<T: Task> $builder<T> {
            option_methods!();

            /// Makes repeated submissions one, for a day unless `dedup_window` says otherwise.
            ///
            /// A delay is counted from the moment of the call, and is part of what is compared: a repetition that must be the
            /// same says `delay_until`.
            pub fn idempotency_key(self, key: impl Into<String>) -> Self {
                self.say(|said| said.key = Some(key.into()))
            }

            /// A repetition under the same key that says something else is the first submission, not an error.
            pub fn accept_other_content(self) -> Self {
                self.say(|said| said.accept_other_content = true)
            }

            /// Its id, instead of a fresh one.
            pub fn execution_id(self, id: ExecutionId) -> Self {
                self.say(|said| said.execution_id = Some(id))
            }

            /// Not handed out before so much time has passed.
            pub fn delay(self, delay: Duration) -> Self {
                self.say(|said| said.delay = Some(delay))
            }

            /// Not handed out before this moment.
            pub fn delay_until(self, moment: SystemTime) -> Self {
                self.say(|said| said.delay_until = Some(moment))
            }

            /// Expires at this moment, whatever it is doing.
            pub fn deadline_at(self, moment: SystemTime) -> Self {
                self.say(|said| said.deadline_at = Some(moment))
            }
        }
    };
}

submission_methods!(Submission);
submission_methods!(Submit);

impl Client {
    /// Submits a task when it is awaited; until then more can be said about it.
    pub fn submit<S: IntoSubmission>(&self, task: S) -> Submit<S::Task> {
        Submit {
            client: self.clone(),
            submission: task.into_submission(),
        }
    }
}

impl<T: Task> IntoFuture for Submit<T> {
    type Output = Result<Run<T::Output>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { client, submission } = self;
        let draft = Draft::of(submission);
        Box::pin(async move {
            let draft = draft?;
            client.ready().await?;
            let command = draft.command(&client).await?;
            let created = ff_core::fabric::Fabric::create_execution(&client, command).await?;
            Ok(client.run_of(draft.accept(created)?))
        })
    }
}

/// A key that a draft was given, checked.
fn checked(key: &str) -> std::result::Result<IdempotencyKey, String> {
    IdempotencyKey::parse(key).map_err(|rejection| rejection.detail)
}
