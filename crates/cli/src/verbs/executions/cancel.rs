//! `ff cancel`.

use ff_core::command::operator::{CancelExecution, Cancelled};
use ff_core::fabric::On;

use crate::verbs::session::Common;
use crate::verbs::which::OneExecution;

/// End an execution, whatever it is doing
#[derive(clap::Args)]
pub(crate) struct Cancel {
    #[command(flatten)]
    execution: OneExecution,
    /// Why, for whoever looks at it later
    #[arg(long, default_value = "cancelled at the command line")]
    reason: String,
    #[command(flatten)]
    common: Common,
}

impl Cancel {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.execution.open(&self.common).await?;
        let given = &self.execution.given;
        let command = CancelExecution {
            reason: self.reason.clone(),
            fence: None,
        };
        let cancelled = session.fabric.cancel_execution(On::new(id, command)).await?;
        let sentence = match cancelled {
            Cancelled::Now => format!("cancelled {given}"),
            Cancelled::Already => format!("{given} was cancelled before"),
        };
        session.out.done(&cancelled, sentence)
    }
}
