//! `ff migrate`: brings the schema of a database up to date, before the servers that need it start.

use crate::open::{self, Address, Options};
use crate::say;

/// Bring the schema of a store up to date.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Where the store is: postgres://USER@HOST/DATABASE
    #[arg(long, env = "FF_STORE")]
    store: Address,
}

/// Migrates the store. Only a database that several servers share has anything to migrate ahead of them.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let Address::Postgres(nodes) = &arguments.store else {
        say::line(format_args!(
            "{}: its schema is brought up to date when it is opened",
            arguments.store
        ));
        return Ok(());
    };
    let applied = ff_backend_postgres::migrate(&open::postgres_options(nodes, &Options::default())).await?;
    match applied {
        0 => say::line("the schema is up to date"),
        1 => say::line("1 migration applied"),
        some => say::line(format_args!("{some} migrations applied")),
    }
    Ok(())
}
