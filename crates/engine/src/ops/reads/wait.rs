//! wait_for_end.

use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::time::Duration;
use ff_core::view::StateView;

use crate::engine::Engine;

impl Engine {
    /// Where an execution stands once it has ended, or when the wait is over. Its end is in the feed of its partition.
    pub(super) async fn await_end(&self, id: ExecutionId, wait: Duration) -> Result<StateView> {
        let feed = self.shared.feeds.join(id.partition());
        let mut watch = self.watch(wait)?;
        loop {
            let wake = feed.next_wake();
            let snapshot = self.read_execution(id).await?;
            let execution = self.visible(&snapshot, id)?;
            if execution.is_terminal() || !watch.wait(wake).await? {
                return self.state_in(&snapshot, execution).await;
            }
        }
    }
}
