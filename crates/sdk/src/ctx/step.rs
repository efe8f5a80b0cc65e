//! Steps: what is done once, whatever happens to the handler around it.

use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use ff_core::command::steps::StepUsage;
use ff_core::id::BudgetId;
use futures::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Ctx;
use super::budget::{OnBreach, usage_of};
use super::digest::digest_of;
use super::key::Call;
use super::step_run::{StepRun, run_step};
use crate::task_error::TaskError;

/// A step that is being described; awaited, it gives what was recorded, or runs and is recorded.
#[must_use = "a step runs when it is awaited"]
pub struct StepCall<'a, T> {
    state: State<'a, T>,
}

enum State<'a, T> {
    Asked(Box<Asked<'a, T>>),
    Running(BoxFuture<'a, Result<T, TaskError>>),
    Over,
}

/// What was asked for.
pub(super) struct Asked<'a, T> {
    pub(super) ctx: Ctx,
    pub(super) call: Call,
    /// Why it cannot even be looked for.
    pub(super) problem: Option<TaskError>,
    pub(super) input_digest: Option<String>,
    pub(super) timeout: Option<Duration>,
    pub(super) charges: Vec<Charge<'a, T>>,
    pub(super) on_breach: Option<OnBreach>,
    pub(super) retries: Option<Retries>,
    pub(super) body: Box<dyn Body<'a, T> + 'a>,
}

/// What a step cost, from what it gave.
pub(super) type Charge<'a, T> = Box<dyn FnOnce(&T) -> Result<StepUsage, TaskError> + Send + 'a>;

/// What runs. Its type is forgotten, so that many steps can be awaited together whatever they borrow.
pub(super) trait Body<'a, T>: Send {
    /// Runs it, for good.
    fn once(self: Box<Self>, run: StepRun) -> BoxFuture<'a, Result<T, TaskError>>;
    /// Runs it, and may be asked to again.
    fn again(&self, run: StepRun) -> BoxFuture<'a, Result<T, TaskError>>;
}

impl<'a, F, Fut, T> Body<'a, T> for F
where
    F: FnOnce(StepRun) -> Fut + Clone + Send + 'a,
    Fut: Future<Output = Result<T, TaskError>> + Send + 'a,
{
    fn once(self: Box<Self>, run: StepRun) -> BoxFuture<'a, Result<T, TaskError>> {
        Box::pin(self(run))
    }

    fn again(&self, run: StepRun) -> BoxFuture<'a, Result<T, TaskError>> {
        Box::pin(self.clone()(run))
    }
}

/// How often a body is tried again, and after which pauses.
#[derive(Clone, Debug)]
pub(super) struct Retries {
    pub(super) count: u32,
    pub(super) pauses: Range<Duration>,
}

impl Ctx {
    /// Runs `body` once: what it gives is recorded, and whenever the handler asks for this step again it is given the record.
    ///
    /// The value returned is the one that can be read back, the first time too. An error is not recorded, unless it is permanent;
    /// then it is what this step comes to.
    ///
    /// What the body captures is borrowed, or `Clone`: it may be tried again.
    ///
    /// ```
    /// # use ff_sdk::{Ctx, TaskError};
    /// # async fn fetch(url: &str, key: String) -> Result<String, TaskError> { Ok(String::new()) }
    /// # async fn example(ctx: Ctx, url: &str) -> Result<(), TaskError> {
    /// let page = ctx.step("fetch", |s| fetch(url, s.key())).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn step<'a, F, Fut, T>(&self, name: &str, body: F) -> StepCall<'a, T>
    where
        F: FnOnce(StepRun) -> Fut + Clone + Send + 'a,
        Fut: Future<Output = Result<T, TaskError>> + Send + 'a,
        T: Serialize + DeserializeOwned + Send + 'a,
    {
        let call = self.call(name);
        let asked = Asked {
            problem: self.nested(&call),
            ctx: self.clone(),
            call,
            input_digest: None,
            timeout: None,
            charges: Vec::new(),
            on_breach: None,
            retries: None,
            body: Box::new(body),
        };
        StepCall {
            state: State::Asked(Box::new(asked)),
        }
    }

    /// The same for a body that is given its argument: called with another one, the step runs again and replaces its record.
    pub fn step_with<'a, I, F, Fut, T>(&self, name: &str, input: &'a I, body: F) -> StepCall<'a, T>
    where
        I: Serialize + Sync + ?Sized,
        F: FnOnce(StepRun, &'a I) -> Fut + Clone + Send + 'a,
        Fut: Future<Output = Result<T, TaskError>> + Send + 'a,
        T: Serialize + DeserializeOwned + Send + 'a,
    {
        self.step(name, move |run| body(run, input)).input(input)
    }
}

impl<'a, T> StepCall<'a, T> {
    /// Goes by this key instead of the number of the call: for loops over data whose order may change, and for branches.
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        self.change(|asked| asked.call.by_key(key.as_ref()));
        self
    }

    /// What the step depends on: recorded with something else, it runs again.
    pub fn input<I: Serialize + ?Sized>(mut self, input: &I) -> Self {
        self.change(|asked| match digest_of(input) {
            Ok(digest) => asked.input_digest = Some(digest),
            Err(error) => asked.problem = Some(error),
        });
        self
    }

    /// How long one try may take; then it has failed, and another may follow.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.change(|asked| asked.timeout = Some(timeout));
        self
    }

    /// What it costs, by dimension, from what it gives: charged to the budget with the recording, and once. While the budget is
    /// used up the step does not begin; [`OnBreach`] says what happens then.
    pub fn charge<K, I>(mut self, budget: BudgetId, cost: impl FnOnce(&T) -> I + Send + 'a) -> Self
    where
        K: AsRef<str>,
        I: IntoIterator<Item = (K, u64)>,
    {
        let charge = move |value: &T| usage_of(budget, cost(value));
        self.change(|asked| asked.charges.push(Box::new(charge)));
        self
    }

    /// What happens when a budget it charges is used up.
    pub fn on_breach(mut self, what: OnBreach) -> Self {
        self.change(|asked| asked.on_breach = Some(what));
        self
    }

    /// Tries again in place, up to `count` times, with pauses that double from the first to the last. A permanent error is not
    /// tried again. Beyond it the policy of the execution decides.
    pub fn retry(mut self, count: u32, pauses: Range<Duration>) -> Self {
        self.change(|asked| asked.retries = Some(Retries { count, pauses }));
        self
    }

    fn change(&mut self, change: impl FnOnce(&mut Asked<'a, T>)) {
        if let State::Asked(asked) = &mut self.state {
            change(asked);
        }
    }
}

/// Nothing in it is pinned: what runs stands in a box of its own.
impl<T> Unpin for StepCall<'_, T> {}

impl<'a, T> Future for StepCall<'a, T>
where
    T: Serialize + DeserializeOwned + Send + 'a,
{
    type Output = Result<T, TaskError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let State::Asked(_) = &self.state
            && let State::Asked(asked) = std::mem::replace(&mut self.state, State::Over)
        {
            self.state = State::Running(Box::pin(run_step(*asked)));
        }
        match &mut self.state {
            State::Running(running) => running.as_mut().poll(cx),
            State::Asked(_) | State::Over => Poll::Pending,
        }
    }
}
