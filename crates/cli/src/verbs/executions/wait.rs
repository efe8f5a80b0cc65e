//! `ff wait`.

use ff_core::fabric::On;
use ff_core::id::ExecutionId;
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::view::{StateView, WaitForEnd};

use crate::failure::{Class, Failure};
use crate::say;
use crate::verbs::output::clean;
use crate::verbs::patience::{WAIT, patiently};
use crate::verbs::session::{Common, Session};
use crate::verbs::which::OneExecution;
use crate::verbs::{id, when};

/// How long nobody wonders what it waits for.
const IN_SILENCE: Duration = Duration::from_secs(2);

/// Wait for the end of an execution
#[derive(clap::Args)]
pub(crate) struct Wait {
    #[command(flatten)]
    execution: OneExecution,
    /// No longer than this, such as 90s or 2h [default: as long as it takes]
    #[arg(long, value_parser = when::parse_span)]
    timeout: Option<Duration>,
    #[command(flatten)]
    common: Common,
}

impl Wait {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.execution.open(&self.common).await?;
        let state = until_ended(&session, id, self.timeout).await?;
        session.out.done(&state, state.public_state)?;
        match state.public_state {
            PublicState::Completed => Ok(()),
            _ => Err(ended_badly(&session, id).await?.into()),
        }
    }
}

/// Where it stands once it has ended; what has not ended in time is a failure.
pub(super) async fn until_ended(
    session: &Session,
    id: ExecutionId,
    timeout: Option<Duration>,
) -> anyhow::Result<StateView> {
    let begun = session.since_begun();
    let waited = || session.since_begun().saturating_sub(begun);
    let mut is_told = false;
    loop {
        let patience = if is_told { WAIT } else { IN_SILENCE };
        let left = timeout.map_or(patience, |timeout| timeout.saturating_sub(waited()));
        let wait = WaitForEnd {
            wait: left.min(patience),
        };
        let state = patiently(async || session.fabric.wait_for_end(On::new(id, wait)).await).await?;
        if state.public_state.is_terminal() {
            return Ok(state);
        }
        if let Some(timeout) = timeout.filter(|timeout| waited() >= *timeout) {
            let state = state.public_state;
            let what = format!("it is still {state} after {}; it goes on", when::span(timeout));
            let advice = format!("`ff explain {}` says why.", id::short(id.uuid()));
            return Err(Failure::new(Class::NotYet, what).advise(advice).into());
        }
        if !is_told && waited() >= IN_SILENCE {
            is_told = true;
            let (state, short) = (state.public_state, id::short(id.uuid()));
            say::aside(format_args!(
                "It is {state}: `ff explain {short}` says why. Waiting for its end; Ctrl-C ends the waiting, and nothing else."
            ));
        }
    }
}

/// What is said of an end that is no success.
pub(super) async fn ended_badly(session: &Session, id: ExecutionId) -> anyhow::Result<Failure> {
    let view = session.fabric.get_execution(id).await?;
    let state = view.state.public_state;
    let why = match (&view.failure, &view.reason) {
        (Some(failure), _) => format!(": {} ({})", clean(&failure.reason), failure.category),
        (None, Some(reason)) => format!(": {}", clean(reason)),
        (None, None) => String::new(),
    };
    let short = id::short(id.uuid());
    let advice = format!("`ff history {short}` shows what happened; `ff replay {short}` runs it again.");
    Ok(Failure::new(Class::EndedBadly, format!("it ended {state}{why}")).advise(advice))
}
