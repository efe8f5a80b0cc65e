//! `ff quota`.

mod change;
mod show;

use change::{Create, Delete, Update};
use show::{Get, List};

/// Make, watch and change quotas: how often and how many at once
#[derive(clap::Args)]
pub(crate) struct Quota {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the quotas of a namespace
    List(List),
    /// Show one with what is taken of it
    Get(Get),
    /// Make one and print its id
    Create(Create),
    /// Change one; what is not named stays
    Update(Update),
    /// Delete one: what names it is no longer limited by it
    Delete(Delete),
}

impl Quota {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        match self.action {
            Action::List(action) => action.run().await,
            Action::Get(action) => action.run().await,
            Action::Create(action) => action.run().await,
            Action::Update(action) => action.run().await,
            Action::Delete(action) => action.run().await,
        }
    }
}
