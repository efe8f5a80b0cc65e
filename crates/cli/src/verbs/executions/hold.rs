//! `ff hold` and `ff unhold`.

use ff_core::command::operator::{Changed, HoldExecution};
use ff_core::fabric::On;

use crate::verbs::session::Common;
use crate::verbs::which::OneExecution;

/// Keep an execution from being handed out
///
/// An attempt that runs goes on.
#[derive(clap::Args)]
pub(crate) struct Hold {
    #[command(flatten)]
    execution: OneExecution,
    /// Why, for whoever wonders
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// Let an execution go that is held
#[derive(clap::Args)]
pub(crate) struct Unhold {
    #[command(flatten)]
    execution: OneExecution,
    #[command(flatten)]
    common: Common,
}

impl Hold {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.execution.open(&self.common).await?;
        let given = &self.execution.given;
        let command = HoldExecution {
            reason: self.reason.clone(),
        };
        let changed = session.fabric.hold(On::new(id, command)).await?;
        let sentence = match changed {
            Changed::Now => format!("held {given}; ff unhold {given} lets it go"),
            Changed::Already => format!("{given} was held before"),
        };
        session.out.done(&changed, sentence)
    }
}

impl Unhold {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.execution.open(&self.common).await?;
        let given = &self.execution.given;
        let changed = session.fabric.unhold(id).await?;
        let sentence = match changed {
            Changed::Now => format!("{given} is held no longer"),
            Changed::Already => format!("{given} was not held"),
        };
        session.out.done(&changed, sentence)
    }
}
