//! cancel_flow.

use std::pin::pin;
use std::time::Duration;

use ff_core::command::flow::{CancelFlow, CancelProgress, MemberCancellation};
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::limits::BATCH_ITEMS_MAX;
use ff_core::machine::flow;
use ff_core::machine::index::Index;
use futures::future::{Either, select};

use crate::engine::Engine;
use crate::pump::follow_up::{Progress, cancel_members_chunk};

/// The pause when others keep changing the same members.
const PAUSE: Duration = Duration::from_millis(20);

/// Closes the gate, after which no member is claimed. Members follow; those that can within `wait`, before this answers.
pub(crate) async fn cancel_flow(engine: &Engine, command: On<FlowId, CancelFlow>) -> Result<MemberCancellation> {
    let On { id, command } = command;
    let rule = |loaded: flow::Loaded<'_>, context: &_| flow::cancel(loaded, &command, context);
    let mut cancelled = engine.change_flow(id, rule).await?;
    let wait = Duration::from_millis(command.wait.as_millis());
    if !wait.is_zero() {
        let reached = pin!(cancel_members(engine, id));
        // Given up in the middle of anything, the rest is done by whoever does the follow-up work.
        if let Either::Left((reached, _)) = select(reached, engine.host().sleep(wait)).await {
            reached?;
            cancelled.progress = CancelProgress::Cancelled;
        }
    }
    Ok(MemberCancellation {
        cancelled,
        member_execution_ids: first_members(engine, id).await?,
    })
}

/// Does the follow-up work of the cancellation, together with whoever else does it.
async fn cancel_members(engine: &Engine, id: FlowId) -> Result<()> {
    loop {
        match cancel_members_chunk(engine, id).await {
            Ok(Progress::Done) => return Ok(()),
            Ok(Progress::More) => {}
            // Somebody else is at it: what they did is not left to do.
            Ok(Progress::Later) => engine.host().sleep(PAUSE).await,
            Err(refusal) if refusal.code == Code::Contention => engine.host().sleep(PAUSE).await,
            Err(refusal) => return Err(refusal),
        }
    }
}

async fn first_members(engine: &Engine, flow_id: FlowId) -> Result<Vec<ExecutionId>> {
    let members = engine.range(Index::Members(flow_id));
    let mut pages = engine.store().pages(members, BATCH_ITEMS_MAX);
    let mut ids = Vec::new();
    while ids.len() < BATCH_ITEMS_MAX
        && let Some(page) = pages.next().await?
    {
        ids.extend(page.executions().into_iter().map(|(member, _)| member.id));
    }
    ids.truncate(BATCH_ITEMS_MAX);
    Ok(ids)
}
