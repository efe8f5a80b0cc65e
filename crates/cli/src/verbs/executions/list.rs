//! `ff list`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use ff_core::command::page::PageRequest;
use ff_core::name::{Category, ExecutionKind, LaneId, WorkerId};
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use ff_core::view::{ExecutionView, ListExecutions, ListOrder, WantedTag};

use crate::verbs::output::{Cell, Column, Ink, Table, state_ink};
use crate::verbs::paging::Limit;
use crate::verbs::session::{Common, Session};
use crate::verbs::when::Moment;
use crate::verbs::{id, tag, when, why};

/// List executions, the newest first
#[derive(clap::Args)]
pub(crate) struct List {
    /// Of this lane. May be repeated
    #[arg(long)]
    lane: Vec<LaneId>,
    /// In this state. May be repeated
    #[arg(long, value_parser = state_parser(), hide_possible_values = true)]
    state: Vec<PublicState>,
    /// Of this kind. May be repeated
    #[arg(long)]
    kind: Vec<ExecutionKind>,
    /// With this label, as KEY=VALUE. May be repeated: all must hold
    #[arg(long, value_name = "KEY=VALUE", value_parser = tag::tag)]
    tag: Vec<WantedTag>,
    /// Members of this flow
    #[arg(long)]
    flow: Option<String>,
    /// Run by this worker, or this instance of one
    #[arg(long)]
    worker: Option<WorkerId>,
    /// Failed in this way, such as timeout
    #[arg(long)]
    category: Option<Category>,
    /// Created since: 2h (ago), or 2026-11-16T09:30
    #[arg(long, value_name = "WHEN", value_parser = when::parse_moment)]
    created_since: Option<Moment>,
    /// Created before
    #[arg(long, value_name = "WHEN", value_parser = when::parse_moment)]
    created_before: Option<Moment>,
    /// Ended since
    #[arg(long, value_name = "WHEN", value_parser = when::parse_moment)]
    ended_since: Option<Moment>,
    /// Ended before
    #[arg(long, value_name = "WHEN", value_parser = when::parse_moment)]
    ended_before: Option<Moment>,
    /// What waits in one lane, in the order in which it is handed out
    #[arg(long, requires = "lane")]
    next: bool,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    common: Common,
}

/// States by name.
fn state_parser() -> impl TypedValueParser<Value = PublicState> {
    let names = PossibleValuesParser::new(PublicState::ALL.iter().map(|state| state.as_str()));
    names.try_map(|name| {
        let found = PublicState::ALL.iter().find(|state| state.as_str() == name);
        found.copied().ok_or("there is no such state")
    })
}

impl List {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let session = self.common.open().await?;
        let list = self.list(&session).await?;
        let ask = async |page: PageRequest| session.list_executions(&list, page).await;
        let listed = self.limit.list(ask).await?;
        let none = match list == ListExecutions::default() {
            true => "There are no executions. Submit one with `ff submit KIND`.",
            false => "No execution is like that.",
        };
        let table = |items: &[_]| table(items, session.now);
        self.limit.print(session.out, &listed, table, none)
    }

    async fn list(&self, session: &Session) -> anyhow::Result<ListExecutions> {
        let at = |moment: Option<Moment>| moment.map(|moment| moment.seen_from(session.now));
        Ok(ListExecutions {
            namespace: session.namespace.clone(),
            lane: self.lane.clone(),
            state: self.state.clone(),
            kind: self.kind.clone(),
            tag: self.tag.clone(),
            flow_id: match &self.flow {
                Some(flow) => Some(id::flow(session, flow).await?),
                None => None,
            },
            worker: self.worker.clone(),
            category: self.category.clone(),
            created_from: at(self.created_since),
            created_before: at(self.created_before),
            ended_from: at(self.ended_since),
            ended_before: at(self.ended_before),
            order: if self.next { ListOrder::Next } else { ListOrder::Newest },
            ..ListExecutions::default()
        })
    }
}

/// A row for each execution.
pub(crate) fn table(views: &[ExecutionView], now: Timestamp) -> Table {
    let columns = [
        Column::new("ID"),
        Column::new("NAME").cut(),
        Column::new("KIND").cut(),
        Column::new("LANE").spare(),
        Column::new("STATE"),
        Column::number("AGE"),
        Column::number("TRIES").spare(),
        Column::new("DETAIL").cut(),
    ];
    let mut table = Table::new(columns);
    for view in views {
        let state = view.state.public_state;
        table.row([
            Cell::new(Ink::Strong, id::short(view.execution_id.uuid())),
            view.tags.get(id::NAME).map_or("", String::as_str).into(),
            view.execution_kind.as_str().into(),
            view.lane_id.as_str().into(),
            Cell::new(state_ink(state), state.as_str()),
            when::span(now.since(view.created_at)).into(),
            view.attempt_count.to_string().into(),
            Cell::new(Ink::Faint, detail(view, now)),
        ]);
    }
    table
}

/// Why it stands where it stands.
fn detail(view: &ExecutionView, now: Timestamp) -> String {
    if let Some(failure) = &view.failure {
        return format!("{}: {}", failure.category, failure.reason);
    }
    if let (PublicState::Delayed, Some(until)) = (view.state.public_state, view.delay_until) {
        return when::from_now(until, now);
    }
    let said = view.reason.clone().or_else(|| why::because(&view.state, now));
    let progress = || view.progress.as_ref()?.message.clone();
    let worker = || Some(format!("on {}", view.worker_instance.as_ref()?));
    said.or_else(progress).or_else(worker).unwrap_or_default()
}
