//! `ff flow list`.

use ff_core::command::page::{Page, PageRequest};
use ff_core::machine::flow::FlowState;
use ff_core::name::FlowKind;
use ff_core::time::Timestamp;
use ff_core::view::{FlowView, ListFlows, WantedTag};

use crate::verbs::output::{Cell, Column, Ink, Table};
use crate::verbs::paging::Limit;
use crate::verbs::session::Common;
use crate::verbs::{id, tag, when};

/// List flows, the newest first
#[derive(clap::Args)]
pub(crate) struct List {
    /// Of this kind
    #[arg(long)]
    kind: Option<FlowKind>,
    /// With this label, as KEY=VALUE
    #[arg(long, value_name = "KEY=VALUE", value_parser = tag::tag)]
    tag: Option<WantedTag>,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    common: Common,
}

impl List {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let session = self.common.open().await?;
        let ask = async |page: PageRequest| {
            let list = ListFlows {
                namespace: session.namespace.clone(),
                kind: self.kind.clone(),
                tag: self.tag.clone().map(|tag| (tag.key, tag.value)),
                page,
                ..ListFlows::default()
            };
            session.fabric.list_flows(list).await.map(Page::from)
        };
        let listed = self.limit.list(ask).await?;
        let none = match (&self.kind, &self.tag) {
            (None, None) => "There are no flows. Submit one with `ff flow submit FILE`.",
            _ => "No flow is like that.",
        };
        let table = |items: &[_]| table(items, session.now);
        self.limit.print(session.out, &listed, table, none)
    }
}

fn table(flows: &[FlowView], now: Timestamp) -> Table {
    let columns = [
        Column::new("ID"),
        Column::new("NAME").cut(),
        Column::new("KIND").cut(),
        Column::new("STATE"),
        Column::number("MEMBERS"),
        Column::number("OPEN"),
        Column::number("AGE"),
    ];
    let mut table = Table::new(columns);
    for flow in flows {
        table.row([
            Cell::new(Ink::Strong, id::short(flow.flow_id.uuid())),
            flow.tags.get(id::NAME).map_or("", String::as_str).into(),
            flow.flow_kind.as_str().into(),
            Cell::new(ink(flow.state), flow.state.as_str()),
            flow.counts.members.to_string().into(),
            flow.counts.open.to_string().into(),
            when::span(now.since(flow.created_at)).into(),
        ]);
    }
    table
}

/// How the state of a flow looks.
pub(super) const fn ink(state: FlowState) -> Ink {
    match state {
        FlowState::Open => Ink::Plain,
        FlowState::Running => Ink::Busy,
        FlowState::Blocked => Ink::Warning,
        FlowState::Completed => Ink::Good,
        FlowState::Failed => Ink::Bad,
        FlowState::Cancelled => Ink::Faint,
    }
}
