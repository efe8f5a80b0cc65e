//! Ends, told to whoever waits for them in the process that decided them: they need not look again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::id::ExecutionId;
use ff_core::record::Execution;
use tokio::sync::watch;

/// Who waits for the end of what.
#[derive(Default)]
pub(crate) struct Ends {
    by_id: Mutex<HashMap<ExecutionId, watch::Sender<Option<Arc<Execution>>>>>,
}

/// Somebody who waits for one end.
pub(crate) struct EndWaiter<'e> {
    ends: &'e Ends,
    id: ExecutionId,
    told: watch::Receiver<Option<Arc<Execution>>>,
}

impl Ends {
    /// Waits from now on.
    pub(crate) fn join(&self, id: ExecutionId) -> EndWaiter<'_> {
        let told = self.by_id().entry(id).or_default().subscribe();
        EndWaiter { ends: self, id, told }
    }

    /// `execution` has ended.
    pub(crate) fn tell(&self, execution: &Execution) {
        if let Some(waiters) = self.by_id().get(&execution.id) {
            waiters.send_replace(Some(Arc::new(execution.clone())));
        }
    }

    fn by_id(&self) -> MutexGuard<'_, HashMap<ExecutionId, watch::Sender<Option<Arc<Execution>>>>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EndWaiter<'_> {
    /// Completes when the end is told.
    pub(crate) async fn told(&mut self) {
        // The sender is there as long as one who waits.
        let _ = self.told.wait_for(Option::is_some).await;
    }

    /// The execution as it ended, if that was told.
    pub(crate) fn ended(&self) -> Option<Arc<Execution>> {
        self.told.borrow().clone()
    }
}

impl Drop for EndWaiter<'_> {
    fn drop(&mut self) {
        let mut by_id = self.ends.by_id();
        // This one is among them still.
        if by_id.get(&self.id).is_some_and(|waiters| waiters.receiver_count() <= 1) {
            by_id.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_went_away_leaves_nothing_behind() {
        let ends = Ends::default();
        let id: ExecutionId = "{fp:1}:01999999-0000-7000-8000-000000000000".parse().unwrap();
        let (one, other) = (ends.join(id), ends.join(id));
        drop(one);
        assert_eq!(ends.by_id().len(), 1);
        drop(other);
        assert!(ends.by_id().is_empty());
    }
}
