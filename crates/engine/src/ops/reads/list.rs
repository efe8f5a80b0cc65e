//! list_executions, and views of executions for other listings.

use ff_backend::query::{ExecutionFilter, Listing};
use ff_core::command::page::Page;
use ff_core::fabric::Result;
use ff_core::name::Namespace;
use ff_core::record::Execution;
use ff_core::view::{ExecutionView, ListExecutions};

use super::scene::Gates;
use super::view::execution_view;
use crate::engine::Engine;

impl Engine {
    pub(super) async fn page_of_executions(&self, request: ListExecutions) -> Result<Page<ExecutionView>> {
        let limit = request.page.limit()?;
        let filter = ExecutionFilter {
            namespace: self.namespace_to_read(request.namespace)?,
            lane: request.lane,
            state: request.state,
            kind: request.kind,
            tag: request.tag,
            flow_id: request.flow_id,
            created_from: request.created_from,
            created_before: request.created_before,
        };
        let scope = format!("executions/{filter:?}");
        let after = self.open_cursor(&request.page, &scope).await?;
        let mut page = self.store().list(Listing::Executions(filter), after, limit).await?;
        let next = page.next.take();
        let executions: Vec<Execution> = page.executions().into_iter().map(|(execution, _)| execution).collect();
        Ok(Page {
            items: self.execution_views(&executions).await?,
            next: self.sign_cursor(next, &scope).await?,
        })
    }

    /// What the caller sees of some executions: those it may not see, or whose retention is over, are left out.
    pub(crate) async fn execution_views(&self, executions: &[Execution]) -> Result<Vec<ExecutionView>> {
        let is_seen =
            |execution: &&Execution| self.caller.sees(&execution.definition.namespace) && !execution.is_deleting();
        let seen: Vec<&Execution> = executions.iter().filter(is_seen).collect();
        let scene = self.scene(&seen, Gates::new()).await?;
        Ok(seen
            .into_iter()
            .map(|execution| execution_view(execution, &scene))
            .collect())
    }

    /// The namespace a listing is about; `None`: every one, for a caller who may see them all.
    pub(crate) fn namespace_to_read(&self, asked: Option<Namespace>) -> Result<Option<Namespace>> {
        match asked {
            Some(namespace) => {
                self.check_namespace(&namespace)?;
                Ok(Some(namespace))
            }
            None => Ok(self.caller.namespace.clone()),
        }
    }
}
