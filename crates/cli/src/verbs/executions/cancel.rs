//! `ff cancel`.

use ff_core::command::operator::{CancelExecution, Cancelled};
use ff_core::fabric::On;

use crate::verbs::id;
use crate::verbs::session::Common;

/// End an execution, whatever it is doing
#[derive(clap::Args)]
pub(crate) struct Cancel {
    /// Which: its id, its name, or the last eight digits of its id
    execution: String,
    /// Why, for whoever looks at it later
    #[arg(long, default_value = "cancelled at the command line")]
    reason: String,
    #[command(flatten)]
    common: Common,
}

impl Cancel {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let session = self.common.open().await?;
        let given = &self.execution;
        let id = id::execution(&session, given).await?;
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
