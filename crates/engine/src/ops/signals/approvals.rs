//! Everything that waits for a person, with what its worker shows to who decides.

use ff_backend::frames::FrameRange;
use ff_core::caller::Role;
use ff_core::command::page::Page;
use ff_core::command::signal::{Approval, ListApprovals};
use ff_core::fabric::Result;
use ff_core::frame::FrameId;
use ff_core::machine::approval::approval;
use ff_core::machine::index::Index;
use ff_core::record::Record;
use futures::stream::{self, StreamExt, TryStreamExt};

use crate::engine::Engine;

/// Summaries that are read at once.
const SUMMARIES_AT_ONCE: usize = 16;

/// What is escalated between two pages moves to the front and is seen by whoever starts again.
pub(crate) async fn approvals(engine: &Engine, mut request: ListApprovals) -> Result<Page<Approval>> {
    request.check()?;
    let limit = request.page.limit()?;
    request.namespace = engine.namespace_to_read(request.namespace)?;
    let page = std::mem::take(&mut request.page);
    let scope = format!("approvals/{request:?}");
    let after = engine.open_cursor(&page, &scope).await?;
    let waiting = engine.range(Index::Person(request.namespace.clone()));
    let matches = |record: &Record| matches!(record, Record::Execution(execution) if request.matches(execution));
    let found = engine.matching(waiting, after, limit, matches).await?;
    let approvals = found.rows.iter().filter_map(|(record, _)| match record {
        Record::Execution(execution) => approval(execution),
        _ => None,
    });
    let approvals: Vec<Approval> = approvals.collect();
    let sees_bytes = engine.caller.role.contains(Role::Submitter);
    let shown = stream::iter(approvals)
        .map(|approval| with_shown(engine, approval, sees_bytes))
        .buffered(SUMMARIES_AT_ONCE);
    Ok(Page {
        items: shown.try_collect().await?,
        next: engine.sign_cursor(found.next, &scope).await?,
    })
}

/// What is shown is in the summary of the attempt that asked.
async fn with_shown(engine: &Engine, mut approval: Approval, sees_bytes: bool) -> Result<Approval> {
    if !sees_bytes || approval.waitpoints.is_empty() {
        return Ok(approval);
    }
    let summary_alone = FrameRange {
        execution_id: approval.execution_id,
        attempt_index: approval.expected_attempt,
        from: FrameId::END,
        to: FrameId::END,
        limit: 1,
    };
    if let Some((summary, _)) = engine.store().read(summary_alone).await?.summary {
        approval.add_shown(&summary);
    }
    Ok(approval)
}
