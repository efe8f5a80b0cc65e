//! `ff flow get`.

use ff_core::command::page::PageRequest;
use ff_core::fabric::On;
use ff_core::time::Timestamp;
use ff_core::view::FlowView;

use super::list::ink;
use crate::verbs::executions::table;
use crate::verbs::output::{Details, Ink};
use crate::verbs::paging::Limit;
use crate::verbs::session::Common;
use crate::verbs::which::OneFlow;
use crate::verbs::{id, tag, when};

/// Show a flow with its members
#[derive(clap::Args)]
pub(crate) struct Get {
    #[command(flatten)]
    flow: OneFlow,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    common: Common,
}

impl Get {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.flow.open(&self.common).await?;
        let flow = session.fabric.get_flow(id).await?;
        session.out.one(&flow, || details(&flow, session.now))?;
        if !session.out.is_table() {
            return Ok(());
        }
        let ask = async |page: PageRequest| session.fabric.list_members(On::new(id, page)).await;
        let members = self.limit.list(ask).await?;
        session.out.text("\n")?;
        let table = |items: &[_]| table(items, session.now);
        self.limit.print(session.out, &members, table, "It has no members.")
    }
}

fn details(flow: &FlowView, now: Timestamp) -> Details {
    let mut details = Details::default();
    details.painted(Ink::Strong, "id", flow.flow_id.to_string());
    details.maybe("name", flow.tags.get(id::NAME));
    details.add("kind", flow.flow_kind.as_str());
    details.painted(ink(flow.state), "state", flow.state.as_str());
    details.maybe(
        "cancelled",
        flow.cancellation.as_ref().map(|cancelled| &cancelled.reason),
    );
    details.maybe("tags", tag::shown(&flow.tags));
    let states = flow.counts.states.iter().filter(|(_, count)| **count > 0);
    let states: Vec<_> = states.map(|(state, count)| format!("{count} {state}")).collect();
    details.add("members", format!("{}: {}", flow.counts.members, states.join(", ")));
    details.add("created", when::moment_from_now(flow.created_at, now));
    details.maybe("ended", flow.ended_at.map(|at| when::moment_from_now(at, now)));
    details
}
