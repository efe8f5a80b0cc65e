//! `ff result`.

use std::io::IsTerminal;

use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::ExecutionId;
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::view;

use super::wait::{ended_badly, until_ended};
use crate::failure::{Class, Failure};
use crate::say;
use crate::verbs::session::{Common, Session};
use crate::verbs::when;
use crate::verbs::which::OneExecution;

/// Print what an execution gave, once it has ended
#[derive(clap::Args)]
pub(crate) struct GetResult {
    #[command(flatten)]
    execution: OneExecution,
    /// Wait for its end, no longer than this; 0s: not at all [default: as long as it takes]
    #[arg(long, value_parser = when::parse_span)]
    timeout: Option<Duration>,
    #[command(flatten)]
    common: Common,
}

impl GetResult {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.execution.open(&self.common).await?;
        print(&session, id, self.timeout).await
    }
}

/// Waits for the end and prints the result.
pub(super) async fn print(session: &Session, id: ExecutionId, timeout: Option<Duration>) -> anyhow::Result<()> {
    let state = until_ended(session, id, timeout).await?;
    if state.public_state != PublicState::Completed {
        return Err(ended_badly(session, id).await?.into());
    }
    match session.fabric.get_result(On::new(id, view::GetResult::default())).await {
        Ok(result) => raw(session, &result),
        Err(refusal) if refusal.code == Code::ResultNotAvailable => {
            say::aside("It was completed without a result.");
            Ok(())
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// Bytes as they are. A terminal is spared what it cannot show, and gets the line end that text lacks.
pub(super) fn raw(session: &Session, payload: &Payload) -> anyhow::Result<()> {
    let is_terminal = std::io::stdout().is_terminal();
    let text = std::str::from_utf8(&payload.bytes);
    if is_terminal && text.is_err() {
        let (length, kind) = (payload.len(), &payload.content_type);
        let what = format!("it is {length} bytes of {kind}, which a terminal cannot show");
        return Err(Failure::new(Class::Other, what)
            .advise("Send it into a file: … > FILE")
            .into());
    }
    session.out.bytes(&payload.bytes)?;
    if is_terminal && !payload.bytes.ends_with(b"\n") {
        session.out.text("\n")?;
    }
    Ok(())
}
