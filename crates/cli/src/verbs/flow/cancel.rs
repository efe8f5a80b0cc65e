//! `ff flow cancel`.

use ff_core::command::flow::{CancelFlow, CancelProgress};
use ff_core::fabric::On;
use ff_core::record::CancelFlowPolicy;
use ff_core::time::Duration;

use crate::verbs::session::Common;
use crate::verbs::which::OneFlow;

/// How long the answer may take until every member was reached.
const WAIT: Duration = Duration::from_secs(10);

/// Cancel a flow, or seal it
#[derive(clap::Args)]
pub(crate) struct Cancel {
    #[command(flatten)]
    flow: OneFlow,
    /// Why, for whoever looks at it later
    #[arg(long, default_value = "cancelled at the command line")]
    reason: String,
    /// What happens to its members
    #[arg(long, value_enum, default_value_t)]
    members: Members,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, Default, clap::ValueEnum)]
enum Members {
    /// All that are open are cancelled
    #[default]
    All,
    /// Those that run may finish; all others are cancelled
    Pending,
    /// They go on, but no more are added
    None,
}

impl Cancel {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.flow.open(&self.common).await?;
        let command = CancelFlow {
            reason: self.reason,
            policy: match self.members {
                Members::All => CancelFlowPolicy::CancelAll,
                Members::Pending => CancelFlowPolicy::CancelPending,
                Members::None => CancelFlowPolicy::FlowOnly,
            },
            wait: WAIT,
        };
        let outcome = session.fabric.cancel_flow(On::new(id, command)).await?;
        let sentence = match (outcome.cancelled.policy, outcome.cancelled.progress) {
            (CancelFlowPolicy::FlowOnly, _) => format!("flow {id} takes no more members"),
            (_, CancelProgress::Cancelled) => format!("cancelled flow {id}"),
            (_, CancelProgress::Scheduled) => format!("flow {id} is being cancelled; its members follow"),
        };
        session.out.done(&outcome, sentence)
    }
}
