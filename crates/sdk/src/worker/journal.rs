//! What was done of a task before this worker has it.

use ff_core::command::steps::{ReadSteps, StepPage, StepView, TaskJournal};
use ff_core::fabric::{Fabric, On, Result};
use ff_core::limits::PAGE_MAX;

use super::backoff::Backoff;
use super::lease::Lease;
use crate::client::Client;

/// All that was recorded: what the task brought, and the rest of it. `client` shows the lease.
pub(super) async fn complete(brought: Option<TaskJournal>, client: &Client, lease: &Lease) -> Result<Vec<StepView>> {
    let Some(TaskJournal { mut steps, next, .. }) = brought else {
        return Ok(Vec::new());
    };
    if next.is_some() {
        steps.extend(read_from(next, client, lease).await?);
    }
    Ok(steps)
}

/// Reads what was recorded from a place on, page by page.
pub(super) async fn read_from(mut from_seq: Option<u64>, client: &Client, lease: &Lease) -> Result<Vec<StepView>> {
    let mut steps = Vec::new();
    loop {
        let read = ReadSteps {
            from_seq,
            limit: Some(PAGE_MAX),
            outputs: true,
            forgotten: false,
        };
        let page = read_page(&read, client, lease).await?;
        steps.extend(page.items);
        from_seq = page.next;
        if from_seq.is_none() {
            return Ok(steps);
        }
    }
}

/// One page, asked for until it is answered or the lease is over.
async fn read_page(read: &ReadSteps, client: &Client, lease: &Lease) -> Result<StepPage> {
    let mut backoff = Backoff::of_calls();
    loop {
        match client.read_steps(On::new(lease.execution_id, read.clone())).await {
            Err(refusal) if refusal.code.retryable() && lease.halt().borrow().is_none() => {
                tokio::time::sleep(backoff.pause()).await;
            }
            answer => return answer,
        }
    }
}
