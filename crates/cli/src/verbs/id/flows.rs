//! Flows by what people call them.

use ff_core::command::page::{Page, PageRequest};
use ff_core::id::FlowId;
use ff_core::view::{FlowView, ListFlows};

use super::{CANDIDATES_MAX, NAME, NEWEST, are_digits, ends_in, none, one};
use crate::verbs::paging;
use crate::verbs::session::Session;
use crate::verbs::when;

/// The flow that `given` stands for: its id, the value of its tag `name`, or the end of its id if it is among the newest.
pub(crate) async fn flow(session: &Session, given: &str) -> anyhow::Result<FlowId> {
    if let Ok(id) = given.parse() {
        return Ok(id);
    }
    let shown = |view: &FlowView| {
        let age = when::span(session.now.since(view.created_at));
        format!("{}  {}  {}  {age} old", view.flow_id, view.flow_kind, view.state)
    };
    let tag = Some((NAME.to_owned(), given.to_owned()));
    let named = newest(session, tag, CANDIDATES_MAX + 1).await?;
    if let Some(view) = one(named, "flow", given, shown)? {
        return Ok(view.flow_id);
    }
    let mut ending = match are_digits(given) {
        true => newest(session, None, NEWEST).await?,
        false => Vec::new(),
    };
    ending.retain(|view| ends_in(view.flow_id.uuid(), given));
    let found = one(ending, "flow", given, shown)?.map(|view| view.flow_id);
    found.ok_or_else(|| none("flow", given, "`ff flow list` shows the newest flows with their ids."))
}

async fn newest(session: &Session, tag: Option<(String, String)>, count: usize) -> anyhow::Result<Vec<FlowView>> {
    let ask = async |page: PageRequest| {
        let list = ListFlows {
            namespace: session.namespace.clone(),
            tag: tag.clone(),
            page,
            ..ListFlows::default()
        };
        session.fabric.list_flows(list).await.map(Page::from)
    };
    Ok(paging::list(count, ask).await?.items)
}
