//! Stops, told to the worker's exchange that waits in the process that decided them: it need not renew first. One that is
//! decided between two exchanges is told to the next. And calls that wait in vain, because their worker is handed nothing more.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::command::claim::StoppedTask;
use ff_core::machine::lease_is_over;
use ff_core::name::{Namespace, WorkerInstanceId};
use ff_core::record::{Execution, Lease};
use tokio::sync::Notify;

use crate::host::Host;

/// How long a slot whose exchanges are over is told of what it missed; who is away for longer renews first.
const AWAY_MAX: Duration = Duration::from_secs(60);
/// Stops that are kept for the next exchange of a slot.
const MISSED_MAX: usize = 256;
/// Slots before any is looked at whether it is away.
const SLOTS_MIN: usize = 64;

/// A process slot of a worker.
type SlotKey = (Namespace, WorkerInstanceId);

/// Whose exchanges are told.
pub(crate) struct Stops {
    host: Arc<dyn Host>,
    slots: Mutex<Slots>,
}

struct Slots {
    by_key: HashMap<SlotKey, Slot>,
    /// So many are looked at whether they are away.
    look_at: usize,
}

#[derive(Default)]
struct Slot {
    waiting: Vec<Arc<Inbox>>,
    missed: Vec<StoppedTask>,
    left_at: Duration,
}

/// What one exchange was told.
#[derive(Default)]
struct Inbox {
    told: Mutex<Vec<StoppedTask>>,
    /// Its worker is handed nothing more.
    is_vain: AtomicBool,
    news: Notify,
}

/// An exchange that wants to be told.
pub(crate) struct StopWaiter<'s> {
    stops: &'s Stops,
    key: SlotKey,
    inbox: Arc<Inbox>,
}

impl Stops {
    pub(crate) fn new(host: Arc<dyn Host>) -> Self {
        let slots = Slots {
            by_key: HashMap::new(),
            look_at: SLOTS_MIN,
        };
        Self {
            host,
            slots: Mutex::new(slots),
        }
    }

    /// Is told from now on, and what its slot has missed.
    pub(crate) fn join(&self, namespace: &Namespace, instance: &WorkerInstanceId) -> StopWaiter<'_> {
        let key = (namespace.clone(), instance.clone());
        let mut slots = self.slots();
        slots.forget_who_is_away(self.host.elapsed());
        let slot = slots.by_key.entry(key.clone()).or_default();
        let inbox = Arc::new(Inbox {
            told: Mutex::new(std::mem::take(&mut slot.missed)),
            ..Inbox::default()
        });
        slot.waiting.push(Arc::clone(&inbox));
        StopWaiter {
            stops: self,
            key,
            inbox,
        }
    }

    /// An execution was changed: tells its worker if that was not the worker's own doing and means that it should stop.
    pub(crate) fn note(&self, before: Option<&Execution>, after: &Execution) {
        let Some((lease, holder)) = before.and_then(|before| before.lease().zip(before.attempt.as_ref())) else {
            return;
        };
        let Some(stopped) = stopped(lease, after) else { return };
        let key = (after.definition.namespace.clone(), holder.instance.clone());
        if let Some(slot) = self.slots().by_key.get_mut(&key) {
            slot.tell(stopped);
        }
    }

    /// What waits for work for this slot waits in vain from now on.
    pub(crate) fn end_waits(&self, namespace: &Namespace, instance: &WorkerInstanceId) {
        let slots = self.slots();
        let slot = slots.by_key.get(&(namespace.clone(), instance.clone()));
        for inbox in slot.iter().flat_map(|slot| &slot.waiting) {
            inbox.is_vain.store(true, Ordering::Relaxed);
            inbox.news.notify_one();
        }
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    fn forget_who_is_away(&mut self, now: Duration) {
        if self.by_key.len() < self.look_at {
            return;
        }
        let is_away = |slot: &Slot| slot.waiting.is_empty() && slot.left_at + AWAY_MAX <= now;
        self.by_key.retain(|_, slot| !is_away(slot));
        self.look_at = SLOTS_MIN.max(2 * self.by_key.len());
    }
}

impl Slot {
    fn tell(&mut self, stopped: StoppedTask) {
        for inbox in &self.waiting {
            inbox.told().push(stopped.clone());
            inbox.news.notify_one();
        }
        if self.waiting.is_empty() {
            self.miss([stopped]);
        }
    }

    fn miss(&mut self, stopped: impl IntoIterator<Item = StoppedTask>) {
        let room = MISSED_MAX.saturating_sub(self.missed.len());
        self.missed.extend(stopped.into_iter().take(room));
    }
}

impl Inbox {
    fn told(&self) -> MutexGuard<'_, Vec<StoppedTask>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the holder of a lease should know about what was done to it.
fn stopped(lease: &Lease, after: &Execution) -> Option<StoppedTask> {
    let stopped = StoppedTask {
        execution_id: after.id,
        lease_epoch: lease.epoch,
        stop_requested: None,
        error: None,
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
    let by_others = ended.end.operation().is_none();
    by_others.then(|| StoppedTask {
        error: Some(lease_is_over(after, ended)),
        ..stopped
    })
}

impl StopWaiter<'_> {
    /// Completes when there is something to tell, or nothing to wait for.
    pub(crate) async fn told(&self) {
        while self.inbox.told().is_empty() && !self.is_vain() {
            self.inbox.news.notified().await;
        }
    }

    /// Completes when there is nothing to wait for.
    pub(crate) async fn in_vain(&self) {
        while !self.is_vain() {
            self.inbox.news.notified().await;
        }
    }

    fn is_vain(&self) -> bool {
        self.inbox.is_vain.load(Ordering::Relaxed)
    }

    /// Everything that was told.
    pub(crate) fn all(self) -> Vec<StoppedTask> {
        std::mem::take(&mut *self.inbox.told())
    }
}

impl Drop for StopWaiter<'_> {
    fn drop(&mut self) {
        let mut slots = self.stops.slots();
        if let Some(slot) = slots.by_key.get_mut(&self.key) {
            slot.waiting.retain(|inbox| !Arc::ptr_eq(inbox, &self.inbox));
            // Whoever asked went away before the answer.
            slot.miss(self.inbox.told().drain(..));
            slot.left_at = self.stops.host.elapsed();
        }
    }
}
