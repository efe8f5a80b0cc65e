//! `ff signal`.

use ff_core::command::signal::{DeliverSignal, Delivered, SendSignal};
use ff_core::command::waitpoint::ReadWaitpointToken;
use ff_core::fabric::On;
use ff_core::name::{IdempotencyKey, Identity, SignalName};
use ff_core::payload::Payload;
use ff_core::record::SignalEffect;
use ff_core::token::WaitpointToken;

use super::waitpoint;
use crate::verbs::input;
use crate::verbs::session::Common;
use crate::verbs::which::OneExecution;

/// Deliver a signal to an execution that waits for one
#[derive(clap::Args)]
pub(crate) struct Signal {
    #[command(flatten)]
    execution: OneExecution,
    /// What the signal is called
    signal: SignalName,
    /// What comes with it: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON")]
    payload: Option<String>,
    /// At which waitpoint, by its key or id [default: the one that asks for such a signal]
    #[arg(long, value_name = "WAITPOINT")]
    at: Option<String>,
    /// The token of the waitpoint; without one, an operator's key will do
    #[arg(long, env = "FF_WAITPOINT_TOKEN", hide_env_values = true, hide = true)]
    token: Option<String>,
    /// Delivered again with the same key, it is the same one
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<IdempotencyKey>,
    #[command(flatten)]
    common: Common,
}

impl Signal {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.execution.open(&self.common).await?;
        let waitpoint_id = waitpoint::find(&session, id, self.at.as_deref(), &self.signal).await?;
        let waitpoint_token = match &self.token {
            Some(token) => WaitpointToken::from_text(token),
            None => {
                let ask = ReadWaitpointToken { waitpoint_id };
                session
                    .fabric
                    .read_waitpoint_token(On::new(id, ask))
                    .await?
                    .waitpoint_token
            }
        };
        let signal = DeliverSignal {
            waitpoint_id,
            signal_id: None,
            signal_name: self.signal.clone(),
            category: "event".to_owned(),
            source_type: "command_line".to_owned(),
            source_identity: Identity::anonymous(),
            payload: match &self.payload {
                Some(given) => input::payload(given)?,
                None => Payload::default(),
            },
            idempotency_key: self.idempotency_key.clone(),
            correlation_id: None,
        };
        let send = SendSignal {
            waitpoint_token,
            signal,
        };
        let delivered = session.fabric.deliver_signal(On::new(id, send)).await?;
        session.out.done(
            &delivered,
            format_args!("delivered to {}: {}", self.execution.given, sentence(&delivered)),
        )
    }
}

/// What became of it.
pub(super) const fn sentence(delivered: &Delivered) -> &'static str {
    match delivered {
        Delivered::Duplicate { .. } => "that was said before; this changed nothing",
        Delivered::Accepted { effect, .. } => match effect {
            SignalEffect::ResumeConditionSatisfied => "it goes on",
            SignalEffect::AppendedToWaitpoint => "it waits for more",
            SignalEffect::BufferedForPendingWaitpoint => "it counts once the execution waits there",
            SignalEffect::IgnoredNotInCondition => "it does not wait for such a signal",
        },
    }
}
