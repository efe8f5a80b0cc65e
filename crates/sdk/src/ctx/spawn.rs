//! Children: tasks that a handler starts and may wait for.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ff_core::command::steps::ChildView;
use ff_core::id::ExecutionId;
use ff_core::name::StepKey;
use ff_core::payload::Payload;
use ff_core::record::StepKind;
use ff_core::state::PublicState;
use futures::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::Ctx;
use super::gate::Pause;
use super::key::Call;
use super::step_run::BodyUnderWay;
use super::submit::not_submitted;
use crate::duration::millis;
use crate::json;
use crate::options::{TaskOptions, option_methods};
use crate::submit::{Draft, IntoSubmission, Submission};
use crate::task::Task;
use crate::task_error::TaskError;

/// How long until it is looked again at a child that was replayed after it had ended: nobody tells when it ends once more.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// A child that is being described; awaited, it is started, or found where it was started before.
#[must_use = "a child is started when it is awaited"]
pub struct Spawn<T> {
    ctx: Ctx,
    call: Call,
    submission: Submission<T>,
}

/// An execution that this handler has started; it gives an `O` when it succeeds.
pub struct Child<O> {
    ctx: Ctx,
    key: StepKey,
    id: ExecutionId,
    gives: PhantomData<fn() -> O>,
}

/// A child that ended without success: what [`TaskError::downcast_ref`] finds in the error of [`Child::result`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildFailed {
    /// The key of its step.
    pub step: String,
    /// Which execution.
    pub execution_id: ExecutionId,
    /// How it ended; absent: it is not there any more.
    pub state: Option<PublicState>,
    /// Why it failed, where it did.
    pub reason: Option<String>,
}

impl Ctx {
    /// Starts a task as a child: once, whatever happens to this handler. Several that are awaited together are started by one call.
    ///
    /// When this execution ends other than by success, its children that still run are cancelled.
    ///
    /// Takes a task, or [`Submission::new`] of one with its options.
    ///
    /// ```
    /// # use ff_sdk::{Ctx, Task, TaskError};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Fetch { url: String }
    /// # impl Task for Fetch { const KIND: &'static str = "fetch"; type Output = String; type Inputs = (); }
    /// # async fn example(ctx: Ctx, urls: Vec<String>) -> Result<(), TaskError> {
    /// let mut pages = Vec::new();
    /// for url in urls {
    ///     pages.push(ctx.spawn("fetch", Fetch { url }).priority(10).await?);
    /// }
    /// for page in &pages {
    ///     println!("{}", page.result().await?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn spawn<S: IntoSubmission>(&self, name: &str, task: S) -> Spawn<S::Task> {
        Spawn {
            ctx: self.clone(),
            call: self.call(name),
            submission: self.traced(task),
        }
    }

    /// Starts what is described, unless it was before.
    async fn spawned(
        &self,
        call: Call,
        draft: crate::error::Result<Draft>,
    ) -> Result<(StepKey, ExecutionId), TaskError> {
        self.nested(&call).map_or(Ok(()), Err)?;
        let key = call.key()?;
        self.may_go_on().await?;
        let recorded = self.run.journal.call(&key, StepKind::Spawn)?;
        if let Some(child) = recorded.and_then(|step| step.child.as_ref()) {
            return Ok((key, child.execution_id));
        }
        let draft = draft.map_err(TaskError::permanent)?;
        if self.is_detached() {
            return Ok((key, self.id()));
        }
        self.may_begin().await;
        let _body = BodyUnderWay::begin(self, &key);
        let child = draft
            .child(&self.run.client, key.clone())
            .await
            .map_err(not_submitted)?;
        let id = self.start_child(child).await?;
        self.run.spawned.store(true, Ordering::SeqCst);
        Ok((key, id))
    }
}

impl<T: Task> Spawn<T> {
    /// Goes by this key instead of the number of the call.
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        self.call.by_key(key.as_ref());
        self
    }

    /// Not handed out before so much time has passed.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.submission = self.submission.delay(delay);
        self
    }

    option_methods!();

    fn adjust(mut self, change: impl FnOnce(TaskOptions) -> TaskOptions) -> Self {
        self.submission.options = change(self.submission.options);
        self
    }
}

impl<T: Task> IntoFuture for Spawn<T> {
    type Output = Result<Child<T::Output>, TaskError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { ctx, call, submission } = self;
        // Of no type any more: a task need not be shared between threads.
        let draft = Draft::of(submission);
        Box::pin(async move {
            let (key, id) = ctx.spawned(call, draft).await?;
            Ok(Child {
                ctx,
                key,
                id,
                gives: PhantomData,
            })
        })
    }
}

impl<O> Child<O> {
    /// Its id: the same whenever the handler runs again.
    pub const fn id(&self) -> ExecutionId {
        self.id
    }

    /// The child as it stood when this run of the handler began, if it has ended.
    fn ended(&self) -> Option<&ChildView> {
        let child = self.ctx.run.journal.recorded(&self.key)?.child.as_ref()?;
        let is_over = child.public_state.is_none_or(PublicState::is_terminal);
        is_over.then_some(child)
    }

    fn failed(&self, child: &ChildView) -> TaskError {
        TaskError::permanent(ChildFailed {
            step: self.key.to_string(),
            execution_id: self.id,
            state: child.public_state,
            reason: child.failure.as_ref().map(|failure| failure.reason.clone()),
        })
    }
}

impl<O: DeserializeOwned> Child<O> {
    /// What it gives. No worker holds this task until every child that was started so far has ended; then the handler starts again
    /// from its first line.
    ///
    /// A child that ended without success is a permanent error, as it would be found again by every retry; which end it was is
    /// told by [`ChildFailed`].
    pub async fn result(&self) -> Result<O, TaskError> {
        let (ctx, key) = (&self.ctx, &self.key);
        ctx.gate().standing()?;
        if ctx.is_detached() {
            return ctx.prepared(key);
        }
        let Some(child) = self.ended() else {
            return ctx.pause_with(Some(key.clone()), ctx.until_children_end()).await;
        };
        ctx.may_go_on().await?;
        if child.public_state != Some(PublicState::Completed) {
            return Err(self.failed(child));
        }
        let stored: Payload = child.result.clone().unwrap_or_default();
        let payload = ctx.open(&format!("the result of child {key}"), stored).await?;
        json::read(&payload)
            .map_err(|problem| TaskError::permanent(format!("the result of child {key} ({}) {problem}", self.id)))
    }
}

impl Ctx {
    /// How the handler is given up until its children have ended.
    fn until_children_end(&self) -> Pause {
        let was_held = self.run.children_held && !self.run.spawned.load(Ordering::SeqCst);
        match was_held {
            true => Pause::Delay {
                until: self.now() + millis(LOOK_AGAIN),
                step: None,
            },
            false => Pause::WaitChildren,
        }
    }
}

impl fmt::Display for ChildFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, execution_id, .. } = self;
        match self.state {
            Some(state) => write!(f, "child {step} ({execution_id}) ended as {state}")?,
            None => write!(f, "child {step} ({execution_id}) is not there any more")?,
        }
        self.reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

impl std::error::Error for ChildFailed {}

impl<O> fmt::Debug for Child<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child")
            .field("step", &self.key)
            .field("id", &self.id)
            .finish()
    }
}
