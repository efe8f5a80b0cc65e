//! A wait as it is looked for and begun; the kinds of waits differ in what they make of it.

use std::time::Duration;

use ff_core::command::steps::{StepSignalView, StepView};
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::name::{StepKey, WaitpointKey};
use ff_core::record::{Matcher, ReasonCode, ResumeCondition, ResumedBy, StepKind, StepState, TimeoutBehavior};
use serde::de::DeserializeOwned;

use super::Ctx;
use super::gate::Pause;
use super::key::Call;
use crate::duration::millis;
use crate::json;
use crate::task_error::TaskError;

/// The name of signals from whoever can only POST, which no codec has seen.
const CALLBACK: &str = "callback";

/// What a wait is for.
pub(super) struct Wish {
    pub(super) waitpoints: Vec<WaitpointChoice>,
    pub(super) condition: ResumeCondition,
    pub(super) reason: ReasonCode,
    pub(super) timeout: Option<Duration>,
    pub(super) on_timeout: TimeoutBehavior,
}

impl Ctx {
    /// Looks whether a wait is over. If not, the handler is given up until it is: this does not return then.
    pub(super) async fn waited(&self, key: &StepKey, wish: Wish) -> Result<&StepView, TaskError> {
        // What is not over is asked for even if the handler is about to pause: so two waits at once are noticed.
        if self.run.journal.is_done(key) {
            self.may_go_on().await?;
        }
        if let Some(step) = self
            .run
            .journal
            .recorded(key)
            .filter(|step| step.state == StepState::Done)
        {
            return Ok(step);
        }
        let suspend = Suspend {
            fence: None,
            waitpoints: wish.waitpoints,
            resume_condition: wish.condition,
            reason_code: wish.reason,
            timeout_at: wish.timeout.map(|timeout| self.now() + millis(timeout)),
            timeout_behavior: wish.timeout.map(|_| wish.on_timeout),
            resume_delay: ff_core::time::Duration::ZERO,
            idempotency_key: None,
            suspension_id: None,
            steps: Vec::new(),
            step: Some(key.clone()),
        };
        self.pause_with(Some(key.clone()), Pause::Suspend(Box::new(suspend)))
            .await
    }

    /// The key of a call that waits.
    pub(super) async fn wait_key(&self, call: &Call) -> Result<StepKey, TaskError> {
        self.nested(call).map_or(Ok(()), Err)?;
        let key = call.key()?;
        self.gate().standing()?;
        self.run.journal.call(&key, StepKind::Wait)?;
        Ok(key)
    }

    /// The value that a signal brought.
    pub(super) async fn brought<T: DeserializeOwned>(
        &self,
        key: &StepKey,
        came: &StepSignalView,
    ) -> Result<T, TaskError> {
        let (name, stored) = (&came.signal.signal.name, came.signal.payload.clone());
        let payload = match name.as_str() {
            CALLBACK => stored,
            _ => self.open(&format!("the signal {name} for {key}"), stored).await?,
        };
        json::read(&payload).map_err(|problem| {
            let (by, at) = (
                &came.signal.signal.source_identity,
                ff_core::date::write(came.signal.signal.accepted_at),
            );
            let told = format!("the signal {name} that {by} sent to {key} on {at} {problem}");
            TaskError::permanent(told)
        })
    }
}

/// One new waitpoint, under the key of the wait.
pub(super) fn fresh(key: &WaitpointKey) -> WaitpointChoice {
    WaitpointChoice::Fresh {
        waitpoint_key: key.clone(),
        waitpoint_id: None,
    }
}

/// One signal at one waitpoint.
pub(super) const fn single(waitpoint_key: WaitpointKey, matcher: Matcher) -> ResumeCondition {
    ResumeCondition::Single { waitpoint_key, matcher }
}

/// The waitpoint of a wait has its key: a step's key is always one.
pub(super) fn waitpoint_key(key: &str) -> Result<WaitpointKey, TaskError> {
    WaitpointKey::parse(key).map_err(|refusal| TaskError::permanent(format!("{key} is no waitpoint: {refusal}")))
}

/// The signal that ended a wait, or what else did.
pub(super) fn came(step: &StepView) -> Result<&StepSignalView, NoSignal> {
    match step.resumed_by {
        Some(ResumedBy::Timeout) => Err(NoSignal::Timeout),
        Some(ResumedBy::Operator) => Err(NoSignal::Operator),
        Some(ResumedBy::Signals) | None => step.signals.last().ok_or(NoSignal::Operator),
    }
}

/// What else than a signal ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoSignal {
    Timeout,
    Operator,
}

impl NoSignal {
    /// What it is to who asked for nothing else than a signal.
    pub(super) fn error(self, key: &StepKey) -> TaskError {
        match self {
            Self::Timeout => TaskError::category("timeout", format!("nothing came for {key} in time")),
            Self::Operator => {
                TaskError::permanent(format!("an operator ended the wait for {key} without what it was for"))
            }
        }
    }
}
