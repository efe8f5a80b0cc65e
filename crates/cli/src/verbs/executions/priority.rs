//! `ff priority`.

use ff_core::command::operator::{ChangePriority, Changed};
use ff_core::fabric::On;
use ff_core::limits::PRIORITY_MAX;

use crate::verbs::session::Common;
use crate::verbs::which::OneExecution;

/// Change where an execution stands in its queue
#[derive(clap::Args)]
pub(crate) struct Priority {
    #[command(flatten)]
    execution: OneExecution,
    /// From 0 to 9000, higher first
    #[arg(value_parser = clap::value_parser!(u16).range(..=i64::from(PRIORITY_MAX)))]
    priority: u16,
    #[command(flatten)]
    common: Common,
}

impl Priority {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.execution.open(&self.common).await?;
        let given = &self.execution.given;
        let priority = self.priority;
        let changed = session
            .fabric
            .change_priority(On::new(id, ChangePriority { priority }))
            .await?;
        let sentence = match changed {
            Changed::Now => format!("{given} has priority {priority} now"),
            Changed::Already => format!("{given} had priority {priority} before"),
        };
        session.out.done(&changed, sentence)
    }
}
