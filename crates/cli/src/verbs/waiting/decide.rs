//! `ff approve` and `ff reject`.

use anyhow::bail;
use ff_core::command::signal::{Decide, Delivered, Verdict};
use ff_core::fabric::On;
use ff_core::name::{IdempotencyKey, SignalName};
use ff_core::payload::Payload;
use ff_core::record::SignalEffect;

use super::signal::sentence;
use super::waitpoint;
use crate::verbs::input;
use crate::verbs::session::Common;
use crate::verbs::which::OneExecution;

/// Say yes to what an execution waits for
#[derive(clap::Args)]
pub(crate) struct Approve {
    #[command(flatten)]
    decision: Decision,
}

/// Say no to what an execution waits for
#[derive(clap::Args)]
pub(crate) struct Reject {
    #[command(flatten)]
    decision: Decision,
}

/// A person's decision.
#[derive(clap::Args)]
struct Decision {
    #[command(flatten)]
    execution: OneExecution,
    /// What the handler is to know besides: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON")]
    note: Option<String>,
    /// At which waitpoint, by its key or id [default: the one that waits for a decision]
    #[arg(long, value_name = "WAITPOINT")]
    at: Option<String>,
    /// Decided again with the same key, it is the same decision
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<IdempotencyKey>,
    #[command(flatten)]
    common: Common,
}

impl Approve {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        self.decision.send(Verdict::Approve).await
    }
}

impl Reject {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        self.decision.send(Verdict::Reject).await
    }
}

impl Decision {
    async fn send(self, verdict: Verdict) -> anyhow::Result<()> {
        let (session, id) = self.execution.open(&self.common).await?;
        let signal = match verdict {
            Verdict::Approve => SignalName::approved(),
            Verdict::Reject => SignalName::rejected(),
        };
        let decide = Decide {
            waitpoint_id: waitpoint::find(&session, id, self.at.as_deref(), &signal).await?,
            payload: match &self.note {
                Some(given) => input::payload(given)?,
                None => Payload::default(),
            },
            idempotency_key: self.idempotency_key,
        };
        let decide = On::new(id, decide);
        let delivered = match verdict {
            Verdict::Approve => session.fabric.approve(decide).await?,
            Verdict::Reject => session.fabric.reject(decide).await?,
        };
        let given = &self.execution.given;
        if let Delivered::Duplicate {
            by: Some(by),
            verdict: Some(first),
            ..
        } = &delivered
            && *first != verdict
        {
            bail!("{given} was {} before, by {by}; this changed nothing", done(*first));
        }
        let said = match (&delivered, verdict) {
            // It goes on with that, and to most handlers it is the end.
            (
                Delivered::Accepted {
                    effect: SignalEffect::ResumeConditionSatisfied,
                    ..
                },
                Verdict::Reject,
            ) => "its handler is told",
            _ => sentence(&delivered),
        };
        session
            .out
            .done(&delivered, format_args!("{} {given}: {said}", done(verdict)))
    }
}

const fn done(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approve => "approved",
        Verdict::Reject => "rejected",
    }
}
