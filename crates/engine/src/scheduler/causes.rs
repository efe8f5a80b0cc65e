//! Budgets and quotas this process knows to be closed: their queues are not asked for, and claims that wait are woken when
//! one of them moves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ff_core::id::BudgetId;
use ff_core::name::Namespace;
use ff_core::record::Cause;

use super::wake_up::WakeUp;

/// Causes remembered at the same time. One more is met again at the next claim, which costs time and nothing else.
const CAUSES_MAX: usize = 1_024;

/// What is known to be closed. Losing it costs a look at the store.
#[derive(Default)]
pub(crate) struct Causes {
    known: Mutex<BTreeMap<Cause, Known>>,
    /// Budgets that turned out to be closed while work stood in their queues.
    to_move: Mutex<BTreeSet<BudgetId>>,
}

struct Known {
    namespace: Namespace,
    /// Not believed from this moment on, by the host's clock.
    until: Duration,
    /// Claim queues that left its work aside. They are woken even when it is no longer believed.
    wake_ups: Vec<Weak<WakeUp>>,
}

impl Causes {
    /// A cause has a new generation: it may be open.
    pub(crate) fn moved(&self, cause: Cause) {
        let known = self.known().remove(&cause);
        known.iter().for_each(Known::wake);
    }

    /// Anything may be open.
    pub(crate) fn forget_all(&self) {
        let known = std::mem::take(&mut *self.known());
        known.values().for_each(Known::wake);
    }

    /// Budgets whose queues are to be moved to the blocked work; each is named once.
    pub(crate) fn take_closed_budgets(&self) -> Vec<BudgetId> {
        std::mem::take(&mut *self.to_move()).into_iter().collect()
    }

    /// Asks for the queues of a closed budget to be moved; whether nobody had asked yet.
    pub(super) fn move_queues(&self, id: BudgetId) -> bool {
        self.to_move().insert(id)
    }

    /// A cause of a namespace is closed, and is believed to be until `until`.
    pub(super) fn close(&self, cause: Cause, namespace: &Namespace, until: Duration, now: Duration) {
        let mut known = self.known();
        if let Some(known) = known.get_mut(&cause) {
            known.until = until;
            return;
        }
        if known.len() >= CAUSES_MAX {
            known.retain(|_, known| known.until > now || known.is_waited_for());
        }
        if known.len() < CAUSES_MAX {
            let namespace = namespace.clone();
            let wake_ups = Vec::new();
            known.insert(
                cause,
                Known {
                    namespace,
                    until,
                    wake_ups,
                },
            );
        }
    }

    /// What is believed to be closed in a namespace.
    pub(super) fn closed(&self, namespace: &Namespace, now: Duration) -> Vec<Cause> {
        let known = self.known();
        let closed = known
            .iter()
            .filter(|(_, known)| known.until > now && known.namespace == *namespace);
        closed.map(|(cause, _)| *cause).collect()
    }

    /// Wakes a queue when one of these moves; at once if one of them has moved since it was left aside.
    pub(super) fn wake_when_moved<'c>(&self, causes: impl IntoIterator<Item = &'c Cause>, wake_up: &Arc<WakeUp>) {
        let mut known = self.known();
        for cause in causes {
            match known.get_mut(cause) {
                Some(known) => known.add(wake_up),
                None => wake_up.wake(),
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<Cause, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn to_move(&self) -> MutexGuard<'_, BTreeSet<BudgetId>> {
        self.to_move.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn add(&mut self, wake_up: &Arc<WakeUp>) {
        self.wake_ups.retain(|other| other.strong_count() > 0);
        let is_known = self.wake_ups.iter().any(|other| other.as_ptr() == Arc::as_ptr(wake_up));
        if !is_known {
            self.wake_ups.push(Arc::downgrade(wake_up));
        }
    }

    fn is_waited_for(&self) -> bool {
        self.wake_ups.iter().any(|wake_up| wake_up.strong_count() > 0)
    }

    fn wake(&self) {
        self.wake_ups
            .iter()
            .filter_map(Weak::upgrade)
            .for_each(|wake_up| wake_up.wake());
    }
}
