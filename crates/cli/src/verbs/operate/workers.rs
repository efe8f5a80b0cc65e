//! `ff workers`.

use ff_core::fabric::Fabric;
use ff_core::record::Worker;
use ff_core::time::Timestamp;

use super::listing::Listing;
use crate::verbs::output::{Cell, Column, Ink, Table};
use crate::verbs::when;

/// List the live workers
#[derive(clap::Args)]
pub(crate) struct Workers {
    #[command(flatten)]
    listing: Listing,
}

impl Workers {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let ask = async |fabric: &dyn Fabric, of| fabric.list_workers(of).await;
        let none = "No worker is live. Whatever is submitted waits for one.";
        self.listing.print(ask, table, none).await
    }
}

/// A row for each worker.
pub(crate) fn table(workers: &[Worker], now: Timestamp) -> Table {
    let columns = [
        Column::new("INSTANCE").cut(),
        Column::new("WORKER").spare(),
        Column::new("STATE"),
        Column::number("RUNS"),
        Column::new("LANES").cut(),
        Column::new("OFFERS").cut(),
        Column::new("VERSION").spare(),
        Column::number("UP"),
    ];
    let mut table = Table::new(columns);
    for worker in workers {
        let lanes: Vec<_> = worker.lanes.iter().map(|lane| lane.as_str()).collect();
        let offers: Vec<_> = worker.capabilities.iter().collect();
        let (state, ink) = match &worker.drain {
            Some(_) => ("draining", Ink::Warning),
            None => ("live", Ink::Good),
        };
        table.row([
            Cell::new(Ink::Strong, worker.instance.as_str()),
            worker.worker.as_str().into(),
            Cell::new(ink, state),
            load(worker).into(),
            lanes.join(" ").into(),
            offers.join(" ").into(),
            worker.version.as_deref().unwrap_or_default().into(),
            when::span(now.since(worker.registered_at)).into(),
        ]);
    }
    table
}

/// How many tasks it runs, of how many it could.
fn load(worker: &Worker) -> String {
    match (worker.running, worker.slots) {
        (Some(running), Some(slots)) => format!("{running}/{slots}"),
        (Some(running), None) => running.to_string(),
        (None, Some(slots)) => format!("?/{slots}"),
        (None, None) => String::new(),
    }
}
