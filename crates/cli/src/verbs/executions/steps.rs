//! `ff steps`.

use ff_core::command::steps::{GetStepOutput, ReadSteps, StepView};
use ff_core::fabric::On;
use ff_core::id::ExecutionId;
use ff_core::record::{StepKind, StepState};
use ff_core::time::Timestamp;

use super::result::raw;
use crate::failure::{Class, Failure};
use crate::verbs::id;
use crate::verbs::output::{Cell, Column, Ink, Table};
use crate::verbs::session::{Common, Session};
use crate::verbs::when;
use crate::verbs::which::OneExecution;

/// Steps read at once.
const PAGE: usize = 1_000;
/// No execution has more.
const PAGES_MAX: usize = 100;

/// Show the steps an execution has recorded
#[derive(clap::Args)]
pub(crate) struct Steps {
    #[command(flatten)]
    execution: OneExecution,
    /// Print what this step left, as it is, by its key or its number
    #[arg(long, value_name = "STEP")]
    output_of: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl Steps {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.execution.open(&self.common).await?;
        let steps = read(&session, id).await?;
        let Some(wanted) = &self.output_of else {
            let none = "It has recorded no steps.";
            return session.out.list(&steps, || table(&steps, session.now), none);
        };
        let is_wanted = |step: &&StepView| step.key.as_str() == wanted || step.seq.to_string() == *wanted;
        let found = steps.iter().find(is_wanted).ok_or_else(|| {
            let what = format!("it has recorded no step {wanted:?}");
            Failure::new(Class::NotFound, what).advise(format!("`ff steps {}` lists them.", id::short(id.uuid())))
        })?;
        let output = session
            .fabric
            .get_step_output(On::new(id, GetStepOutput { seq: found.seq }));
        raw(&session, &output.await?)
    }
}

async fn read(session: &Session, id: ExecutionId) -> anyhow::Result<Vec<StepView>> {
    let (mut steps, mut from_seq) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let request = ReadSteps {
            from_seq,
            limit: Some(PAGE),
            outputs: false,
            forgotten: false,
        };
        let mut page = session.fabric.read_steps(On::new(id, request)).await?;
        steps.append(&mut page.items);
        from_seq = page.next;
        if from_seq.is_none() {
            break;
        }
    }
    Ok(steps)
}

fn table(steps: &[StepView], now: Timestamp) -> Table {
    let columns = [
        Column::number("NO"),
        Column::new("STEP").cut(),
        Column::new("KIND").spare(),
        Column::new("STATE"),
        Column::number("TRY"),
        Column::number("TOOK"),
        Column::number("BYTES").spare(),
        Column::new("DETAIL").cut(),
    ];
    let mut table = Table::new(columns);
    for step in steps {
        let (state, ink) = state(step.state);
        let took = step
            .started_at
            .map(|started| when::span(step.recorded_at.since(started)));
        table.row([
            step.seq.to_string().into(),
            Cell::new(Ink::Strong, step.key.as_str()),
            kind(step.kind).into(),
            Cell::new(ink, state),
            step.attempt_index.to_string().into(),
            took.unwrap_or_default().into(),
            step.output_bytes
                .map_or_else(String::new, |bytes| bytes.to_string())
                .into(),
            Cell::new(Ink::Faint, detail(step, now)),
        ]);
    }
    table
}

const fn kind(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Run => "run",
        StepKind::Sleep => "sleep",
        StepKind::Wait => "wait",
        StepKind::Spawn => "spawn",
    }
}

const fn state(state: StepState) -> (&'static str, Ink) {
    match state {
        StepState::Started => ("started", Ink::Busy),
        StepState::Waiting => ("waiting", Ink::Warning),
        StepState::Done => ("done", Ink::Good),
        StepState::Failed => ("failed", Ink::Bad),
    }
}

fn detail(step: &StepView, now: Timestamp) -> String {
    let mut said = Vec::new();
    said.extend(
        step.failure
            .as_ref()
            .map(|failure| format!("{}: {}", failure.category, failure.reason)),
    );
    said.extend(
        step.until
            .map(|until| format!("until {}", when::moment_from_now(until, now))),
    );
    said.extend(step.child.as_ref().map(|child| {
        let state = child.public_state.map_or("gone", |state| state.as_str());
        format!("{} {state}", id::short(child.execution_id.uuid()))
    }));
    for usage in &step.usage {
        said.extend(
            usage
                .deltas
                .iter()
                .map(|(dimension, used)| format!("{used} {dimension}")),
        );
    }
    said.join(", ")
}
