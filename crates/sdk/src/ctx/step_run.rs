//! A step as it is looked for and run.

use std::time::Duration;

use ff_core::command::steps::StepReport;
use ff_core::digest::Digest;
use ff_core::name::{IdempotencyKey, StepKey};
use ff_core::record::{StepKind, StepState, StepUnderWay};
use futures::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Ctx;
use super::gate::ended;
use super::recording::{Recorded, written};
use super::step::{Asked, Body, Retries};
use crate::json;
use crate::task_error::TaskError;
use crate::worker::Backoff;

tokio::task_local! {
    /// The step whose body runs.
    static CURRENT: Current;
}

/// A step whose body runs.
#[derive(Clone, Debug)]
pub(super) struct Current {
    pub(super) key: StepKey,
    pub(super) number_of_try: u32,
}

/// The step whose body asks, if one does.
pub(super) fn current() -> Option<Current> {
    CURRENT.try_with(Clone::clone).ok()
}

/// What the body of a step is told.
#[derive(Clone, Debug)]
pub struct StepRun {
    key: String,
    number_of_try: u32,
}

impl StepRun {
    /// A key for the other side's idempotency: of this execution and this step, the same in every attempt and replay.
    pub fn key(&self) -> String {
        self.key.clone()
    }

    /// Which try of the body this is in this run of the handler, from 0.
    pub const fn number_of_try(&self) -> u32 {
        self.number_of_try
    }
}

/// What is known of a step before it runs.
struct Found {
    key: StepKey,
    /// The record that is to be replaced.
    replaces_seq: Option<u64>,
}

/// Gives what is recorded, or runs the body and records what it gives.
pub(super) async fn run_step<'a, T>(asked: Asked<'a, T>) -> Result<T, TaskError>
where
    T: Serialize + DeserializeOwned + Send + 'a,
{
    let Asked {
        ctx,
        call,
        problem,
        input_digest,
        timeout,
        charges,
        on_breach,
        retries,
        body,
    } = asked;
    problem.map_or(Ok(()), Err)?;
    let key = call.key()?;
    ctx.may_go_on().await?;
    let replaces_seq = match ctx.run.journal.call(&key, StepKind::Run)? {
        None => None,
        Some(step) => match ctx.recorded(step, input_digest.as_deref()).await? {
            Recorded::Value(value) => return Ok(value),
            Recorded::Outdated => Some(step.seq),
        },
    };
    ctx.may_begin().await;
    if !charges.is_empty() {
        ctx.may_spend(&key, on_breach).await?;
    }
    let found = Found { key, replaces_seq };
    let _body = BodyUnderWay::begin(&ctx, &found.key);
    let started_at = ctx.now();
    let done = tokio::select! {
        done = try_body(&ctx, &found.key, (body, retries), timeout) => done,
        () = ctx.gate().handler_ended() => return Err(ended()),
    };
    let mut report = StepReport {
        key: found.key.clone(),
        kind: StepKind::Run,
        state: StepState::Done,
        output: None,
        failure: None,
        input_digest,
        replaces_seq: found.replaces_seq,
        started_at: Some(started_at),
        usage: Vec::new(),
    };
    match done {
        Ok(value) => {
            let (payload, read) = written(&report.key, &value)?;
            let usage: Result<_, TaskError> = charges.into_iter().map(|charge| charge(&value)).collect();
            // What was done is paid for: it is recorded even if its cost cannot be told.
            let told = usage.map(|usage| report.usage = usage);
            ctx.record_value(report, payload).await?;
            told.map(|()| read)
        }
        Err(error) if error.is_permanent() && error.stop().is_none() => Err(ctx.record_failure(report, error).await?),
        Err(error) => Err(error),
    }
}

impl Ctx {
    /// Steps do not nest: the inner one would be recorded under an outer one that runs again.
    pub(super) fn nested(&self, call: &super::key::Call) -> Option<TaskError> {
        let outer = current()?.key;
        let inner = call.label();
        Some(TaskError::permanent(format!(
            "step {inner} was called inside step {outer}: steps do not nest; end the outer one first, or do both in one"
        )))
    }

    /// A key for the other side's idempotency.
    pub(super) fn outer_key(&self, key: &StepKey) -> String {
        let plain = format!("{}/{key}", self.id().uuid());
        match IdempotencyKey::parse(&plain) {
            Ok(_) => plain,
            Err(_) => Digest::of("key of a step", [self.id().to_string().as_str(), key.as_str()]).to_string(),
        }
    }
}

/// Tries a body as often as it may be tried.
async fn try_body<'a, T: DeserializeOwned>(
    ctx: &Ctx,
    key: &StepKey,
    (body, retries): (Box<dyn Body<'a, T> + 'a>, Option<Retries>),
    timeout: Option<Duration>,
) -> Result<T, TaskError> {
    let run = |number_of_try| StepRun {
        key: ctx.outer_key(key),
        number_of_try,
    };
    if let Some(mocked) = ctx.run.probe.as_ref().and_then(|probe| probe.begins(ctx.id(), key)) {
        return json::read(&mocked)
            .map_err(|problem| TaskError::permanent(format!("what a test gives for {key} {problem}")));
    }
    let Some(Retries { count, pauses }) = retries else {
        return try_once(body.once(run(0)), key, 0, timeout).await;
    };
    let mut backoff = Backoff::new(pauses.start, pauses.end.max(pauses.start));
    let mut number_of_try = 0;
    loop {
        match try_once(body.again(run(number_of_try)), key, number_of_try, timeout).await {
            Err(error) if number_of_try < count && !error.is_permanent() && !ctx.is_stopping() => {
                let pause = error.pause().unwrap_or_default().max(backoff.pause());
                tracing::debug!(step = %key, "a try failed and is repeated: {error}");
                tokio::time::sleep(pause).await;
                number_of_try += 1;
            }
            tried => return tried,
        }
    }
}

async fn try_once<T>(
    body: BoxFuture<'_, Result<T, TaskError>>,
    key: &StepKey,
    number_of_try: u32,
    timeout: Option<Duration>,
) -> Result<T, TaskError> {
    let current = Current {
        key: key.clone(),
        number_of_try,
    };
    let body = CURRENT.scope(current, body);
    let Some(timeout) = timeout else { return body.await };
    let late = |_| {
        Err(TaskError::category(
            "timeout",
            format!("step {key} took longer than {timeout:?}"),
        ))
    };
    tokio::time::timeout(timeout, body).await.unwrap_or_else(late)
}

/// A body that a pause has to wait for.
pub(super) struct BodyUnderWay<'c> {
    ctx: &'c Ctx,
    number: u64,
    key: StepKey,
}

impl<'c> BodyUnderWay<'c> {
    pub(super) fn begin(ctx: &'c Ctx, key: &StepKey) -> Self {
        let doing = StepUnderWay {
            step: key.to_string(),
            started_at: ctx.now(),
        };
        if let Some(lease) = &ctx.run.lease {
            lease.note_doing(|all| all.push(doing));
        }
        Self {
            ctx,
            number: ctx.gate().begin(key.clone()),
            key: key.clone(),
        }
    }
}

impl Drop for BodyUnderWay<'_> {
    fn drop(&mut self) {
        self.ctx.gate().end(self.number);
        if let Some(lease) = &self.ctx.run.lease {
            lease.note_doing(|all| all.retain(|doing| doing.step != self.key.as_str()));
        }
    }
}
