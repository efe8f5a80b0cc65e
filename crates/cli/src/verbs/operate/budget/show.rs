//! `ff budget list` and `ff budget get`.

use ff_core::command::budget::{BudgetState, BudgetView, DimensionView};
use ff_core::fabric::Fabric;
use ff_core::time::Timestamp;

use crate::verbs::operate::listing::Listing;
use crate::verbs::output::{Cell, Column, Details, Ink, Table};
use crate::verbs::session::Common;
use crate::verbs::which::OneBudget;
use crate::verbs::{id, when};

#[derive(clap::Args)]
pub(super) struct List {
    #[command(flatten)]
    listing: Listing,
}

#[derive(clap::Args)]
pub(super) struct Get {
    #[command(flatten)]
    budget: OneBudget,
    #[command(flatten)]
    common: Common,
}

impl List {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let ask = async |fabric: &dyn Fabric, of| fabric.list_budgets(of).await;
        let none = "There are no budgets. Make one with `ff budget create team --limit tokens=1000000`.";
        self.listing.print(ask, table, none).await
    }
}

impl Get {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.budget.open(&self.common).await?;
        let view = session.fabric.get_budget(id).await?;
        session.out.one(&view, || details(&view, session.now))
    }
}

fn table(budgets: &[BudgetView], now: Timestamp) -> Table {
    let columns = [
        Column::new("ID"),
        Column::new("FOR").cut(),
        Column::new("STATE"),
        Column::new("USED").cut(),
        Column::number("RESET").spare(),
    ];
    let mut table = Table::new(columns);
    for budget in budgets {
        let (state, ink) = state(&budget.state);
        let used = budget
            .dimensions
            .iter()
            .map(|(name, dimension)| format!("{name} {}", used(dimension)));
        table.row([
            Cell::new(Ink::Strong, id::short(budget.budget_id.uuid())),
            budget.scope.as_str().into(),
            Cell::new(ink, state),
            used.collect::<Vec<_>>().join(", ").into(),
            budget
                .next_reset_at
                .map_or_else(String::new, |at| when::from_now(at, now))
                .into(),
        ]);
    }
    table
}

fn details(budget: &BudgetView, now: Timestamp) -> Details {
    let mut details = Details::default();
    details.painted(Ink::Strong, "id", budget.budget_id.to_string());
    details.add("for", &budget.scope);
    let (state, ink) = state(&budget.state);
    details.painted(ink, "state", state);
    if let BudgetState::Closed(excess) = &budget.state {
        details.add("because", format!("{} is at its hard limit", excess.dimension));
    }
    for (name, dimension) in &budget.dimensions {
        details.add("used", format!("{name} {}", used(dimension)));
    }
    details.maybe("resets every", budget.reset_interval.map(when::span));
    details.maybe(
        "next reset",
        budget.next_reset_at.map(|at| when::moment_from_now(at, now)),
    );
    let breaches = (budget.soft_breaches, budget.hard_breaches);
    details.add("breaches", format!("{} soft, {} hard", breaches.0, breaches.1));
    details.maybe("stopping", budget.stop_pending.as_ref());
    details.add("created", when::moment_from_now(budget.created_at, now));
    details
}

const fn state(state: &BudgetState) -> (&'static str, Ink) {
    match state {
        BudgetState::Open => ("open", Ink::Good),
        BudgetState::Closed(_) => ("used up", Ink::Bad),
        BudgetState::Deleted => ("deleted", Ink::Faint),
    }
}

/// What is spent, of how much.
pub(super) fn used(dimension: &DimensionView) -> String {
    let usage = dimension.usage;
    match (dimension.limits.soft, dimension.limits.hard) {
        (_, Some(0)) => format!("{usage} of 0"),
        (_, Some(hard)) => format!("{usage} of {hard} ({} %)", u128::from(usage) * 100 / u128::from(hard)),
        (Some(soft), None) => format!("{usage}, soft limit {soft}"),
        (None, None) => format!("{usage}, no limit"),
    }
}
