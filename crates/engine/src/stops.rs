//! Stops, told to the worker's exchange that waits in the process that decided them: it need not renew first.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_core::command::claim::StoppedTask;
use ff_core::name::{Namespace, WorkerInstanceId};
use ff_core::record::{Execution, Lease};
use tokio::sync::watch;

/// A process slot of a worker.
type Slot = (Namespace, WorkerInstanceId);

/// Whose exchange is under way here.
#[derive(Default)]
pub(crate) struct Stops {
    by_slot: Mutex<HashMap<Slot, watch::Sender<Vec<StoppedTask>>>>,
}

/// An exchange that wants to be told.
pub(crate) struct StopWaiter<'s> {
    stops: &'s Stops,
    slot: Slot,
    told: watch::Receiver<Vec<StoppedTask>>,
}

impl Stops {
    /// Is told from now on.
    pub(crate) fn join(&self, namespace: &Namespace, instance: &WorkerInstanceId) -> StopWaiter<'_> {
        let slot = (namespace.clone(), instance.clone());
        let told = self.by_slot().entry(slot.clone()).or_default().subscribe();
        let stops = self;
        StopWaiter { stops, slot, told }
    }

    /// An execution was changed: tells its worker if that was not the worker's own doing and means that it should stop.
    pub(crate) fn note(&self, before: Option<&Execution>, after: &Execution) {
        let Some((lease, holder)) = before.and_then(|before| before.lease().zip(before.attempt.as_ref())) else {
            return;
        };
        let Some(stopped) = stopped(lease, after) else { return };
        let slot = (after.definition.namespace.clone(), holder.instance.clone());
        if let Some(waiters) = self.by_slot().get(&slot) {
            waiters.send_modify(|told| told.push(stopped));
        }
    }

    fn by_slot(&self) -> MutexGuard<'_, HashMap<Slot, watch::Sender<Vec<StoppedTask>>>> {
        self.by_slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the holder of a lease should know about what was done to it.
fn stopped(lease: &Lease, after: &Execution) -> Option<StoppedTask> {
    let stopped = StoppedTask {
        execution_id: after.id,
        lease_epoch: lease.epoch,
        stop_requested: None,
    };
    if let Some(kept) = after.lease().filter(|kept| kept.epoch == lease.epoch) {
        let is_new = lease.stop().is_none();
        let stop_requested = kept.stop().filter(|_| is_new)?.clone();
        return Some(StoppedTask {
            stop_requested: Some(stop_requested),
            ..stopped
        });
    }
    let ended = after.ended_lease.as_ref().filter(|ended| ended.epoch == lease.epoch)?;
    ended.end.operation().is_none().then_some(stopped)
}

impl StopWaiter<'_> {
    /// Completes when there is something to tell.
    pub(crate) async fn told(&mut self) {
        // The sender is there as long as one who waits.
        let _ = self.told.wait_for(|told| !told.is_empty()).await;
    }

    /// Everything that was told.
    pub(crate) fn all(&self) -> Vec<StoppedTask> {
        self.told.borrow().clone()
    }
}

impl Drop for StopWaiter<'_> {
    fn drop(&mut self) {
        let mut by_slot = self.stops.by_slot();
        // This one is among them still.
        if by_slot
            .get(&self.slot)
            .is_some_and(|waiters| waiters.receiver_count() <= 1)
        {
            by_slot.remove(&self.slot);
        }
    }
}
