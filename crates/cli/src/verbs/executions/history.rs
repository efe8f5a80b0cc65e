//! `ff history`.

use ff_core::command::page::PageRequest;
use ff_core::fabric::On;
use ff_core::record::{Actor, HistoryLine};
use ff_core::time::Timestamp;

use crate::verbs::happened::{actor, ink};
use crate::verbs::output::{Cell, Column, Ink, Table};
use crate::verbs::session::Common;
use crate::verbs::which::OneExecution;
use crate::verbs::{paging, when};

/// All that is kept of one.
const LINES_MAX: usize = ff_core::limits::HISTORY_LINES_MAX;

/// Show what happened to an execution, from its beginning
#[derive(clap::Args)]
pub(crate) struct History {
    #[command(flatten)]
    execution: OneExecution,
    #[command(flatten)]
    common: Common,
}

impl History {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.execution.open(&self.common).await?;
        let ask = async |page: PageRequest| session.fabric.get_history(On::new(id, page)).await;
        let lines = paging::list(LINES_MAX, ask).await?.items;
        session
            .out
            .list(&lines, || table(&lines, session.now), "Nothing is kept of it.")
    }
}

fn table(lines: &[HistoryLine], now: Timestamp) -> Table {
    let columns = [
        Column::new("TIME (UTC)"),
        Column::number("AFTER").spare(),
        Column::new("WHAT"),
        Column::number("TRY").spare(),
        Column::new("WHO").cut(),
        Column::new("DETAIL").cut(),
    ];
    let mut table = Table::new(columns);
    let mut before = None;
    for line in lines {
        let after = before.replace(line.at).map(|before| when::span(line.at.since(before)));
        let who_ink = if line.actor == Actor::Engine {
            Ink::Faint
        } else {
            Ink::Plain
        };
        table.row([
            when::moment(line.at).into(),
            Cell::new(Ink::Faint, after.unwrap_or_default()),
            Cell::new(ink(line.what), line.what.as_str()),
            line.attempt_index
                .map_or_else(String::new, |index| index.to_string())
                .into(),
            Cell::new(who_ink, actor(&line.actor)),
            line.detail
                .as_ref()
                .map_or_else(String::new, |detail| when::in_words(detail, now))
                .into(),
        ]);
    }
    table
}
