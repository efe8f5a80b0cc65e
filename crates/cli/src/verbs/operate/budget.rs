//! `ff budget`.

mod change;
mod dimension;
mod show;

use change::{Charge, Create, Delete, Limit, Reset};
use show::{Get, List};

/// Make, watch and change budgets
#[derive(clap::Args)]
pub(crate) struct Budget {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the budgets of a namespace
    List(List),
    /// Show one with its usage and limits
    Get(Get),
    /// Make one and print its id
    Create(Create),
    /// Change limits; dimensions that are not named keep theirs
    Limit(Limit),
    /// Charge usage to one
    Charge(Charge),
    /// Let usage start again from zero
    Reset(Reset),
    /// Delete one: what names it is no longer limited by it
    Delete(Delete),
}

impl Budget {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        match self.action {
            Action::List(action) => action.run().await,
            Action::Get(action) => action.run().await,
            Action::Create(action) => action.run().await,
            Action::Limit(action) => action.run().await,
            Action::Charge(action) => action.run().await,
            Action::Reset(action) => action.run().await,
            Action::Delete(action) => action.run().await,
        }
    }
}
