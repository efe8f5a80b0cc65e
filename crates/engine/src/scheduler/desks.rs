//! All desks of the process.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::name::{LaneId, Namespace};

use super::ask::{Asker, Place};
use super::desk::{Desk, DeskKey, Next, Served};

/// Desks kept before those nobody stands at are cleared away.
const DESKS_MAX: usize = 1_024;

/// Who waits for what. Claims that want the same meet at one desk.
#[derive(Default)]
pub(crate) struct Desks {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    desks: BTreeMap<Arc<DeskKey>, Desk>,
    by_lane: BTreeMap<(Namespace, LaneId), BTreeSet<Arc<DeskKey>>>,
    asks: u64,
    closed: bool,
}

/// A claim that stands in line.
pub(super) struct Joined<'d> {
    pub(super) place: Place<'d>,
    /// The desk needs somebody more who serves it: the caller sees to that.
    pub(super) understaffed: Option<Arc<DeskKey>>,
}

impl Desks {
    /// Something may have become eligible in a lane.
    pub(crate) fn wake(&self, namespace: &Namespace, lane: &LaneId) {
        let inner = self.inner();
        let keys = inner.by_lane.get(&(namespace.clone(), lane.clone()));
        for desk in keys.into_iter().flatten().filter_map(|key| inner.desks.get(key)) {
            desk.bell.ring();
        }
    }

    /// Something may have become eligible anywhere.
    pub(crate) fn wake_all(&self) {
        let mut inner = self.inner();
        inner.clear_idle();
        inner.desks.values().for_each(|desk| desk.bell.ring());
    }

    /// Sends everybody away with nothing, and takes nobody any more. A round under way is still answered.
    pub(crate) fn close(&self) {
        let mut inner = self.inner();
        inner.closed = true;
        for desk in inner.desks.values_mut() {
            desk.dismiss();
            desk.bell.ring();
        }
    }

    /// Refuses when the process is shutting down.
    pub(super) fn check_open(&self) -> Result<()> {
        self.inner().check_open()
    }

    /// Stands in line for what `key` says.
    pub(super) fn join(&self, key: DeskKey, asker: Asker, patient: bool) -> Result<Joined<'_>> {
        let mut inner = self.inner();
        inner.check_open()?;
        let key = inner.desk_for(key);
        inner.asks += 1;
        let (ask, place) = Place::take(self, Arc::clone(&key), inner.asks, asker, patient);
        let mut understaffed = None;
        if let Some(desk) = inner.desks.get_mut(&key) {
            desk.join(ask);
            if desk.calls_attendant() {
                understaffed = Some(key);
            }
        }
        Ok(Joined { place, understaffed })
    }

    /// Takes a claim out of its line; `false`: it is being served or was answered.
    pub(super) fn leave(&self, key: &Arc<DeskKey>, id: u64) -> bool {
        let mut inner = self.inner();
        let Some(desk) = inner.desks.get_mut(key) else {
            return false;
        };
        let left = desk.leave(id);
        if left {
            // The last one to leave lets whoever serves the desk go.
            desk.bell.call();
        }
        left
    }

    /// What whoever serves a desk does next.
    pub(super) fn next(&self, key: &Arc<DeskKey>, now: Duration) -> Next {
        match self.inner().desks.get_mut(key) {
            Some(desk) => desk.next(now),
            None => Next::Leave,
        }
    }

    /// A round of a desk is over.
    pub(super) fn finish_round(&self, key: &Arc<DeskKey>, served: Served, now: Duration) {
        let mut inner = self.inner();
        let closed = inner.closed;
        if let Some(desk) = inner.desks.get_mut(key) {
            desk.finish_round(served, now);
            if closed {
                desk.dismiss();
            }
        }
    }

    /// Somebody who served a desk is gone for no good reason.
    pub(super) fn abandon(&self, key: &Arc<DeskKey>, in_round: bool) {
        if let Some(desk) = self.inner().desks.get_mut(key) {
            desk.abandon(in_round);
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn check_open(&self) -> Result<()> {
        if self.closed {
            return Err(Code::ShuttingDown.because("this server is shutting down; ask another one"));
        }
        Ok(())
    }

    /// The name of the desk for `key`, put up if there is none.
    fn desk_for(&mut self, key: DeskKey) -> Arc<DeskKey> {
        if let Some((key, _)) = self.desks.get_key_value(&key) {
            return Arc::clone(key);
        }
        if self.desks.len() >= DESKS_MAX {
            self.clear_idle();
        }
        let key = Arc::new(key);
        for lane in &key.lanes {
            let place = (key.namespace.clone(), lane.clone());
            self.by_lane.entry(place).or_default().insert(Arc::clone(&key));
        }
        self.desks.insert(Arc::clone(&key), Desk::default());
        key
    }

    /// Takes away desks nobody stands at; all that is lost is what their last round taught them.
    fn clear_idle(&mut self) {
        let idle = self.desks.iter().filter(|(_, desk)| desk.is_idle());
        let idle: Vec<Arc<DeskKey>> = idle.map(|(key, _)| Arc::clone(key)).collect();
        idle.iter().for_each(|key| self.remove(key));
    }

    fn remove(&mut self, key: &Arc<DeskKey>) {
        self.desks.remove(key);
        for lane in &key.lanes {
            let place = (key.namespace.clone(), lane.clone());
            if let Some(desks) = self.by_lane.get_mut(&place) {
                desks.remove(key);
                if desks.is_empty() {
                    self.by_lane.remove(&place);
                }
            }
        }
    }
}
