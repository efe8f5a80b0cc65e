//! Executions by what people call them.

use ff_core::command::page::PageRequest;
use ff_core::id::ExecutionId;
use ff_core::view::{ExecutionView, ListExecutions, WantedTag};

use super::{CANDIDATES_MAX, NAME, NEWEST, are_digits, ends_in, none, one};
use crate::verbs::paging;
use crate::verbs::session::Session;
use crate::verbs::when;

/// The execution that `given` stands for: its id with or without braces, the value of its tag `name`, or the end of its id if
/// it is among the newest.
pub(crate) async fn execution(session: &Session, given: &str) -> anyhow::Result<ExecutionId> {
    if given.starts_with("fp:") || given.starts_with("{fp:") {
        return Ok(given.parse()?);
    }
    let shown = |view: &ExecutionView| {
        let age = when::span(session.now.since(view.created_at));
        let (kind, state) = (&view.execution_kind, view.state.public_state);
        format!("{}  {kind}  {state}  {age} old", view.execution_id)
    };
    let named = one(named(session, given).await?, "execution", given, shown)?;
    if let Some(view) = named {
        return Ok(view.execution_id);
    }
    let ending = one(ending(session, given).await?, "execution", given, shown)?;
    let found = ending.map(|view| view.execution_id);
    found.ok_or_else(|| {
        none(
            "execution",
            given,
            "`ff list` shows the newest executions with their ids.",
        )
    })
}

async fn named(session: &Session, name: &str) -> anyhow::Result<Vec<ExecutionView>> {
    let tag = WantedTag {
        key: NAME.to_owned(),
        value: name.to_owned(),
    };
    let list = ListExecutions {
        tag: vec![tag],
        ..ListExecutions::default()
    };
    newest(session, list, CANDIDATES_MAX + 1).await
}

async fn ending(session: &Session, digits: &str) -> anyhow::Result<Vec<ExecutionView>> {
    if !are_digits(digits) {
        return Ok(Vec::new());
    }
    let mut newest = newest(session, ListExecutions::default(), NEWEST).await?;
    newest.retain(|view| ends_in(view.execution_id.uuid(), digits));
    Ok(newest)
}

async fn newest(session: &Session, list: ListExecutions, count: usize) -> anyhow::Result<Vec<ExecutionView>> {
    let list = ListExecutions {
        namespace: session.namespace.clone(),
        ..list
    };
    let ask = async |page: PageRequest| session.list_executions(&list, page).await;
    Ok(paging::list(count, ask).await?.items)
}
