//! wait_for_end.

use std::sync::Arc;

use ff_backend::load::Snapshot;
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::record::Execution;
use ff_core::time::Duration;
use ff_core::view::{StateView, WaitForEnd};

use super::get::state_in;
use crate::engine::Engine;

/// Where an execution stands once it has ended, or when the wait is over.
pub(crate) async fn wait_for_end(engine: &Engine, request: On<ExecutionId, WaitForEnd>) -> Result<StateView> {
    let (snapshot, execution) = end_of(engine, request.id, request.command.wait).await?;
    state_in(engine, &snapshot, &execution).await
}

/// An execution once it has ended, or when the wait is over, and the snapshot it was last looked at in. Who waits is told of an
/// end that this process decides; one that another process decides is in the feed of its partition, beside all that happens
/// there.
pub(super) async fn end_of(engine: &Engine, id: ExecutionId, wait: Duration) -> Result<(Snapshot, Arc<Execution>)> {
    let (mut end, feed) = (engine.shared.ends.join(id), engine.shared.feeds.join(id.partition()));
    let mut watch = engine.watch(wait)?;
    loop {
        let grew = feed.next_wake();
        let snapshot = engine.read_execution(id).await?;
        let execution = engine.visible(&snapshot, id)?;
        if execution.is_terminal() || !watch.wait_for(end.told(), grew).await? {
            let execution = Arc::new(execution.clone());
            return Ok((snapshot, execution));
        }
        if let Some(ended) = end.ended() {
            return Ok((snapshot, ended));
        }
    }
}
