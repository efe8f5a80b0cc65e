//! `ff explain`.

use ff_core::time::Timestamp;
use ff_core::view::{Condition, Explanation, Hindrance};

use crate::verbs::output::{Cell, Column, Ink, Table};
use crate::verbs::session::Common;
use crate::verbs::which::OneExecution;
use crate::verbs::{when, why};

/// Say why an execution does not run
#[derive(clap::Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    execution: OneExecution,
    #[command(flatten)]
    common: Common,
}

impl Explain {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.execution.open(&self.common).await?;
        let explanation = session.fabric.explain(id).await?;
        if !session.out.is_table() {
            return session.out.json(&explanation);
        }
        session
            .out
            .text(&format!("{}\n", sentence(&explanation, session.now)))?;
        if let Some(next) = why::next(id, &explanation.state).filter(|next| !next.starts_with("ff explain")) {
            session.out.text(&format!("Next: {next}\n"))?;
        }
        if explanation.conditions.is_empty() {
            return Ok(());
        }
        let table = conditions(&explanation.conditions, session.now);
        session
            .out
            .text(&format!("\n{}", table.render(session.out.width, session.out.paint)))?;
        for worker in explanation
            .nearest_workers
            .iter()
            .filter(|worker| !worker.missing.is_empty())
        {
            let missing = worker.missing.join(", ");
            session.out.text(&format!("{} lacks {missing}\n", worker.instance))?;
        }
        Ok(())
    }
}

/// Why it stands where it stands.
fn sentence(explanation: &Explanation, now: Timestamp) -> String {
    let state = explanation.state.public_state;
    let mut blocking = explanation.conditions.iter().filter(|condition| condition.blocks);
    let why = why::because(&explanation.state, now).or_else(|| {
        let condition = blocking.next()?;
        Some(when::in_words(&condition.detail, now))
    });
    let nothing = "nothing is in its way, the next free worker of its lane takes it";
    let why = match (why, state.is_terminal()) {
        (Some(why), _) => why,
        (None, false) => nothing.to_owned(),
        (None, true) => return format!("It has ended: {state}."),
    };
    // Some reasons begin with the state itself.
    match why.starts_with(state.as_str()) {
        true => format!("It is {why}."),
        false => format!("It is {state}: {}.", why.replacen("waits", "it waits", 1)),
    }
}

fn conditions(conditions: &[Condition], now: Timestamp) -> Table {
    let mut table = Table::new([Column::new("CONDITION"), Column::new(""), Column::new("NOW").cut()]);
    for condition in conditions {
        let (mark, ink) = match (condition.blocks, condition.hindrance) {
            // Who has it is in nobody's way.
            (true, Hindrance::Ownership) => ("has it", Ink::Busy),
            (true, _) => ("in its way", Ink::Warning),
            (false, _) => ("clear", Ink::Good),
        };
        table.row([
            name(condition.hindrance).into(),
            Cell::new(ink, mark),
            when::in_words(&condition.detail, now).into(),
        ]);
    }
    table
}

const fn name(hindrance: Hindrance) -> &'static str {
    match hindrance {
        Hindrance::Hold => "hold",
        Hindrance::Suspension => "suspension",
        Hindrance::Ownership => "worker",
        Hindrance::Delay => "delay",
        Hindrance::Dependencies => "dependencies",
        Hindrance::FlowGate => "flow",
        Hindrance::Lane => "lane",
        Hindrance::Budget => "budget",
        Hindrance::Quota => "quota",
        Hindrance::Capabilities => "capabilities",
    }
}
