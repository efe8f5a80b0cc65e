//! `ff replay`.

use ff_core::command::flow::{ReplayExecution, Replayed};
use ff_core::command::steps::KeepSteps;
use ff_core::fabric::On;
use ff_core::name::StepKey;

use crate::verbs::session::Common;
use crate::verbs::which::OneExecution;

/// Run again what has ended
///
/// Steps that were done are not done again, unless it had ended well: then everything is.
#[derive(clap::Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    execution: OneExecution,
    /// Keep the steps recorded before this one; it and what came later is done again
    #[arg(long, value_name = "STEP")]
    before: Option<StepKey>,
    /// Keep every step that was done
    #[arg(long, conflicts_with = "before")]
    keep_steps: bool,
    /// Do everything again
    #[arg(long, conflicts_with_all = ["before", "keep_steps"])]
    from_scratch: bool,
    #[command(flatten)]
    common: Common,
}

impl Replay {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.execution.open(&self.common).await?;
        let given = &self.execution.given;
        let command = ReplayExecution {
            request_id: None,
            steps: self.steps(),
        };
        let replayed = session.fabric.replay_execution(On::new(id, command)).await?;
        let sentence = match replayed {
            Replayed::Now => format!("{given} is open again; ff tail {given} follows it"),
            Replayed::Already => format!("{given} was opened again before"),
        };
        session.out.done(&replayed, sentence)
    }

    fn steps(&self) -> Option<KeepSteps> {
        match &self.before {
            Some(step) => Some(KeepSteps::Before(step.clone())),
            None if self.keep_steps => Some(KeepSteps::Done),
            None if self.from_scratch => Some(KeepSteps::None),
            None => None,
        }
    }
}
