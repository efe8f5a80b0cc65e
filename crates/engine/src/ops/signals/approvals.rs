//! Everything that waits for a person.

use ff_core::command::page::Page;
use ff_core::command::signal::{Approval, ListApprovals};
use ff_core::fabric::Result;
use ff_core::machine::approval::approval;
use ff_core::machine::index::Index;

use crate::engine::Engine;

/// What is escalated between two pages moves to the front and is seen by whoever starts again.
pub(crate) async fn approvals(engine: &Engine, request: ListApprovals) -> Result<Page<Approval>> {
    let limit = request.page.limit()?;
    let namespace = engine.namespace_to_read(request.namespace)?;
    let scope = format!("approvals/{namespace:?}");
    let after = engine.open_cursor(&request.page, &scope).await?;
    let waiting = engine.range(Index::Person(namespace));
    let page = engine.store().list(waiting, after, limit).await?;
    Ok(Page {
        next: engine.sign_cursor(page.next.clone(), &scope).await?,
        items: page
            .executions()
            .into_iter()
            .filter_map(|(execution, _)| approval(&execution))
            .collect(),
    })
}
