//! list_executions, and views of executions for other listings.

use ff_backend::query::{ExecutionFilter, Listing};
use ff_core::command::page::Page;
use ff_core::fabric::Result;
use ff_core::record::Execution;
use ff_core::view::{ExecutionView, ListExecutions};

use super::environment::{Gates, environment_of_eligible};
use super::view::execution_view;
use crate::engine::Engine;

pub(crate) async fn list_executions(engine: &Engine, request: ListExecutions) -> Result<Page<ExecutionView>> {
    let limit = request.page.limit()?;
    let filter = ExecutionFilter {
        namespace: engine.namespace_to_read(request.namespace)?,
        lane: request.lane,
        state: request.state,
        kind: request.kind,
        tag: request.tag,
        flow_id: request.flow_id,
        created_from: request.created_from,
        created_before: request.created_before,
    };
    let scope = format!("executions/{filter:?}");
    let after = engine.open_cursor(&request.page, &scope).await?;
    let mut page = engine.store().list(Listing::Executions(filter), after, limit).await?;
    let next = page.next.take();
    let executions: Vec<Execution> = page.executions().into_iter().map(|(execution, _)| execution).collect();
    Ok(Page {
        items: execution_views(engine, &executions).await?,
        next: engine.sign_cursor(next, &scope).await?,
    })
}

/// What the caller sees of some executions: those it may not see, or whose retention is over, are left out.
pub(crate) async fn execution_views(engine: &Engine, executions: &[Execution]) -> Result<Vec<ExecutionView>> {
    let seen: Vec<&Execution> = executions.iter().filter(|execution| engine.sees(execution)).collect();
    let environment = environment_of_eligible(engine, &seen, Gates::new()).await?;
    Ok(seen
        .into_iter()
        .map(|execution| execution_view(execution, &environment))
        .collect())
}
