//! Waiting at several places at once.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::time::Duration;

use ff_core::command::steps::StepView;
use ff_core::name::{StepKey, WaitpointKey};
use ff_core::record::{Distinct, Matcher, ReasonCode, ResumeCondition, TimeoutBehavior};
use serde::de::DeserializeOwned;

use super::Ctx;
use super::awaited::awaited;
use super::key::Call;
use super::signalled::{NoSignal, Wish, came, fresh, single, waitpoint_key};
use crate::task_error::TaskError;

/// A wait until something has come everywhere; await it.
#[must_use = "nobody waits until it is awaited"]
pub struct WaitAll<T> {
    spec: Spec,
    value: PhantomData<fn() -> T>,
}

/// A wait until something has come anywhere; await it.
#[must_use = "nobody waits until it is awaited"]
pub struct WaitAny<T> {
    spec: Spec,
    value: PhantomData<fn() -> T>,
}

struct Spec {
    ctx: Ctx,
    call: Call,
    parts: Vec<String>,
    timeout: Option<Duration>,
}

impl Ctx {
    /// Goes on when a signal has come for each of `parts`; gives what each brought. The waitpoints are called `name#0/part`.
    ///
    /// ```
    /// # use ff_sdk::{Ctx, TaskError};
    /// # async fn example(ctx: Ctx) -> Result<(), TaskError> {
    /// let came = ctx.wait_all::<u64>("gate", ["paid", "packed"]).await?;
    /// println!("{} {}", came["paid"], came["packed"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait_all<T: DeserializeOwned + Send + 'static>(
        &self,
        name: &str,
        parts: impl IntoIterator<Item = impl Into<String>>,
    ) -> WaitAll<T> {
        WaitAll {
            spec: self.gathering(name, parts),
            value: PhantomData,
        }
    }

    /// Goes on when a signal has come for one of `parts`; gives which, and what it brought. The others are closed then.
    pub fn wait_any<T: DeserializeOwned + Send + 'static>(
        &self,
        name: &str,
        parts: impl IntoIterator<Item = impl Into<String>>,
    ) -> WaitAny<T> {
        WaitAny {
            spec: self.gathering(name, parts),
            value: PhantomData,
        }
    }

    fn gathering(&self, name: &str, parts: impl IntoIterator<Item = impl Into<String>>) -> Spec {
        Spec {
            ctx: self.clone(),
            call: self.call(name),
            parts: parts.into_iter().map(Into::into).collect(),
            timeout: None,
        }
    }
}

impl<T> WaitAll<T> {
    /// Goes by this key instead of the number of the call.
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        self.spec.call.by_key(key.as_ref());
        self
    }

    /// How long it may take; then it has failed, with category `timeout`.
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.spec.timeout = Some(time);
        self
    }
}

impl<T> WaitAny<T> {
    /// Goes by this key instead of the number of the call.
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        self.spec.call.by_key(key.as_ref());
        self
    }

    /// How long it may take; then it has failed, with category `timeout`.
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.spec.timeout = Some(time);
        self
    }
}

impl Spec {
    async fn waited(
        &self,
        key: &StepKey,
        condition: fn(Vec<WaitpointKey>) -> ResumeCondition,
    ) -> Result<&StepView, TaskError> {
        if self.parts.is_empty() {
            return Err(TaskError::permanent(format!(
                "{key} waits for nothing: name the parts it waits for"
            )));
        }
        let names = self.parts.iter().map(|part| waitpoint_key(&format!("{key}/{part}")));
        let waitpoints: Vec<WaitpointKey> = names.collect::<Result<_, _>>()?;
        let wish = Wish {
            waitpoints: waitpoints.iter().map(fresh).collect(),
            condition: condition(waitpoints),
            reason: ReasonCode::WaitingForSignal,
            timeout: self.timeout,
            on_timeout: TimeoutBehavior::AutoResumeWithTimeoutSignal,
        };
        let step = self.ctx.waited(key, wish).await?;
        match came(step) {
            Err(nothing) => Err(NoSignal::error(nothing, key)),
            Ok(_) => Ok(step),
        }
    }

    async fn all<T: DeserializeOwned>(self) -> Result<BTreeMap<String, T>, TaskError> {
        let key = self.ctx.wait_key(&self.call).await?;
        if self.ctx.is_detached() {
            return self.ctx.prepared(&key);
        }
        let all = |waitpoints: Vec<WaitpointKey>| {
            ResumeCondition::AllOf(
                waitpoints
                    .into_iter()
                    .map(|waitpoint| single(waitpoint, Matcher::Any))
                    .collect(),
            )
        };
        let mut values = BTreeMap::new();
        for came in &self.waited(&key, all).await?.signals {
            let value = self.ctx.brought(&key, came).await?;
            values.insert(part(&key, came.waitpoint_key.as_ref()), value);
        }
        Ok(values)
    }

    async fn any<T: DeserializeOwned>(self) -> Result<(String, T), TaskError> {
        let key = self.ctx.wait_key(&self.call).await?;
        if self.ctx.is_detached() {
            return self.ctx.prepared(&key);
        }
        let any = |waitpoints| ResumeCondition::Count {
            n: 1,
            distinct: Distinct::Waitpoints,
            matcher: None,
            waitpoints,
        };
        let step = self.waited(&key, any).await?;
        let first = came(step).map_err(|nothing| nothing.error(&key))?;
        let value = self.ctx.brought(&key, first).await?;
        Ok((part(&key, first.waitpoint_key.as_ref()), value))
    }
}

/// Which part a waitpoint stands for.
fn part(key: &StepKey, waitpoint: Option<&WaitpointKey>) -> String {
    let name = waitpoint.map(WaitpointKey::as_str).unwrap_or_default();
    let part = name.strip_prefix(key.as_str()).and_then(|rest| rest.strip_prefix('/'));
    part.unwrap_or(name).to_owned()
}

awaited!(WaitAll<T> => BTreeMap<String, T>, |wait: WaitAll<T>| wait.spec.all());
awaited!(WaitAny<T> => (String, T), |wait: WaitAny<T>| wait.spec.any());
