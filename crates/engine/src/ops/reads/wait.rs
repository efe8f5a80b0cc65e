//! wait_for_end.

use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::view::{StateView, WaitForEnd};

use super::get::state_in;
use crate::engine::Engine;

/// Where an execution stands once it has ended, or when the wait is over. Its end is in the feed of its partition.
pub(crate) async fn wait_for_end(engine: &Engine, request: On<ExecutionId, WaitForEnd>) -> Result<StateView> {
    let id = request.id;
    let feed = engine.shared.feeds.join(id.partition());
    let mut watch = engine.watch(request.command.wait)?;
    loop {
        let wake = feed.next_wake();
        let snapshot = engine.read_execution(id).await?;
        let execution = engine.visible(&snapshot, id)?;
        if execution.is_terminal() || !watch.wait(wake).await? {
            return state_in(engine, &snapshot, execution).await;
        }
    }
}
