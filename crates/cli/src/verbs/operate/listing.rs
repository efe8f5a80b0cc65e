//! Lists of what a namespace has.

use ff_core::command::page::{ListOf, Page, PageRequest};
use ff_core::fabric::{Fabric, Result};
use ff_core::time::Timestamp;
use serde::Serialize;

use crate::verbs::output::Table;
use crate::verbs::paging::Limit;
use crate::verbs::session::Common;

/// What every such list is told.
#[derive(clap::Args)]
pub(super) struct Listing {
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    common: Common,
}

impl Listing {
    /// Prints what `ask` lists; a person is told `none` when that is nothing.
    pub(super) async fn print<T: Serialize>(
        self,
        mut ask: impl AsyncFnMut(&dyn Fabric, ListOf) -> Result<Page<T>>,
        table: impl FnOnce(&[T], Timestamp) -> Table,
        none: &str,
    ) -> anyhow::Result<()> {
        let session = self.common.open().await?;
        let ask = async |page: PageRequest| {
            let namespace = session.own_namespace();
            ask(&*session.fabric, ListOf { namespace, page }).await
        };
        let listed = self.limit.list(ask).await?;
        let table = |items: &[_]| table(items, session.now);
        self.limit.print(session.out, &listed, table, none)
    }
}
