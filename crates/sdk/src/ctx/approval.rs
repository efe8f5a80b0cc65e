//! Waiting for a person's yes or no.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::time::Duration;

use ff_core::command::steps::StepView;
use ff_core::name::{Identity, SignalName, StepKey};
use ff_core::record::{Matcher, ReasonCode, TimeoutBehavior};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Ctx;
use super::awaited::awaited;
use super::gate::Standing;
use super::key::Call;
use super::signalled::{NoSignal, Wish, came, fresh, single, waitpoint_key};
use crate::task_error::TaskError;

/// Bytes that can be shown to who decides.
const SHOWN_BYTES_MAX: usize = 64 * 1024;

/// Asks a person; await it.
#[must_use = "nobody is asked until it is awaited"]
pub struct Approval<N> {
    ctx: Ctx,
    call: Call,
    shown: Option<Result<Value, TaskError>>,
    expires: Option<Duration>,
    on_timeout: TimeoutBehavior,
    note: PhantomData<fn() -> N>,
}

/// What a person decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided<N> {
    /// Whether it was a yes; time that ran out and an operator who ended the wait are none.
    pub approved: bool,
    /// Who decided, or what did.
    pub by: String,
    /// Whether a key vouches for who decided.
    pub verified: bool,
    /// What the person added.
    pub note: Option<N>,
    /// Why it is no yes, where no person said so.
    pub reason: Option<String>,
}

impl Ctx {
    /// Asks a person for a yes or a no, with a note. No worker holds the task meanwhile; the handler starts again from its first
    /// line.
    pub fn approval<N: DeserializeOwned + Send + 'static>(&self, name: &str) -> Approval<N> {
        Approval {
            ctx: self.clone(),
            call: self.call(name),
            shown: None,
            expires: None,
            on_timeout: TimeoutBehavior::AutoResumeWithTimeoutSignal,
            note: PhantomData,
        }
    }
}

impl<N> Approval<N> {
    /// Goes by this key instead of the number of the call.
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        self.call.by_key(key.as_ref());
        self
    }

    /// What is shown to who decides, up to 64 KiB. It is readable: no codec touches it.
    pub fn show<T: Serialize + ?Sized>(mut self, what: &T) -> Self {
        let shown = serde_json::to_value(what);
        self.shown =
            Some(shown.map_err(|error| TaskError::permanent(format!("what is shown has no JSON form: {error}"))));
        self
    }

    /// How long the question stands; for ever unless said.
    pub const fn expires(mut self, time: Duration) -> Self {
        self.expires = Some(time);
        self
    }

    /// What happens then; unless said the answer is a no that says so.
    pub const fn on_timeout(mut self, what: TimeoutBehavior) -> Self {
        self.on_timeout = what;
        self
    }
}

impl<N: DeserializeOwned + Send + 'static> Approval<N> {
    async fn decided(self) -> Result<Decided<N>, TaskError> {
        let ctx = &self.ctx;
        let key = ctx.wait_key(&self.call).await?;
        if ctx.is_detached() {
            return ctx.prepared(&key);
        }
        if !ctx.run.journal.is_done(&key) && ctx.gate().standing()? == Standing::Open {
            ctx.show(&key, self.shown).await?;
        }
        let waitpoint = waitpoint_key(key.as_str())?;
        let decisions = BTreeSet::from([SignalName::approved(), SignalName::rejected()]);
        let wish = Wish {
            waitpoints: vec![fresh(&waitpoint)],
            condition: single(waitpoint, Matcher::ByNames(decisions)),
            reason: ReasonCode::WaitingForApproval,
            timeout: self.expires,
            on_timeout: self.on_timeout,
        };
        let step = ctx.waited(&key, wish).await?;
        ctx.decision(&key, step).await
    }
}

impl Ctx {
    /// Puts what is shown where the inbox of approvals finds it.
    async fn show(&self, key: &StepKey, shown: Option<Result<Value, TaskError>>) -> Result<(), TaskError> {
        let Some(shown) = shown.transpose()? else { return Ok(()) };
        let bytes = shown.to_string().len();
        if bytes > SHOWN_BYTES_MAX {
            let told = format!("what {key} shows has {bytes} bytes, more than {SHOWN_BYTES_MAX}: show less, or a link");
            return Err(TaskError::permanent(told));
        }
        let by_key = json!({ key.as_str(): shown });
        self.summary(&json!({ "approvals": by_key })).await
    }

    async fn decision<N: DeserializeOwned>(&self, key: &StepKey, step: &StepView) -> Result<Decided<N>, TaskError> {
        let nobody = |by: &str, reason: &str| Decided {
            approved: false,
            by: by.to_owned(),
            verified: false,
            note: None,
            reason: Some(reason.to_owned()),
        };
        let came = match came(step) {
            Ok(came) => came,
            Err(NoSignal::Timeout) => return Ok(nobody(Identity::engine().as_str(), "nobody decided in time")),
            Err(NoSignal::Operator) => return Ok(nobody("operator", "an operator ended the wait without a decision")),
        };
        let signal = &came.signal.signal;
        Ok(Decided {
            approved: signal.name == SignalName::approved(),
            by: signal.source_identity.to_string(),
            verified: signal.source_verified,
            note: match came.signal.payload.is_empty() {
                true => None,
                false => self.brought(key, came).await?,
            },
            reason: None,
        })
    }
}

awaited!(Approval<N> => Decided<N>, Approval::decided);
