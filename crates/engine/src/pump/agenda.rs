//! When the store is asked next what is due.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use tokio::sync::Notify;

use super::Pump;
use crate::engine::Engine;

/// The next look at the store, by the host's clock.
#[derive(Default)]
pub(super) struct Agenda {
    next: Mutex<Next>,
    woken: Notify,
}

#[derive(Default)]
struct Next {
    at_once: bool,
    at: Option<Duration>,
    /// The last answer named something that was due.
    overdue: bool,
}

impl Agenda {
    /// Asks at once.
    pub(super) fn ask(&self) {
        self.next().at_once = true;
        self.wake();
    }

    /// Asks at `at`, or before.
    pub(super) fn expect(&self, at: Duration) {
        let sooner = {
            let mut next = self.next();
            let sooner = next.at.is_none_or(|before| at < before);
            if sooner {
                next.at = Some(at);
            }
            sooner
        };
        if sooner {
            self.wake();
        }
    }

    /// Whether it is time to ask.
    pub(super) fn is_time_to_ask(&self, now: Duration) -> bool {
        let next = self.next();
        next.at_once || next.at.is_some_and(|at| at <= now)
    }

    /// The store is being asked: what was expected so far is part of its answer, what is expected from here on may not be.
    pub(super) fn begin(&self) {
        *self.next() = Next::default();
    }

    /// The store's answer named something that was due, or nothing.
    pub(super) fn answered(&self, overdue: bool) {
        self.next().overdue = overdue;
    }

    /// Something is done. A timer set while others were overdue has sent no hint, so the store is asked once more.
    pub(super) fn something_done(&self) {
        let overdue = self.next().overdue;
        if overdue {
            self.ask();
        }
    }

    /// How long until it is time to ask; `None`: nothing is expected.
    pub(super) fn remaining(&self, now: Duration) -> Option<Duration> {
        self.next().at.map(|at| at.saturating_sub(now))
    }

    /// Wakes the loop.
    pub(super) fn wake(&self) {
        self.woken.notify_one();
    }

    /// Completes when the loop was to wake up since the last time.
    pub(super) async fn woken(&self) {
        self.woken.notified().await;
    }

    fn next(&self) -> MutexGuard<'_, Next> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Something in `partition` is due at `at`: the pump looks then, if the partition is its own.
pub(crate) fn expect_due(engine: &Engine, partition: Partition, at: Timestamp) {
    let Pump { agenda, ranges, .. } = &engine.shared.pump;
    if !ranges.holds(partition) {
        return;
    }
    match engine.now_in(partition).filter(|now| !at.has_come(*now)) {
        Some(now) => agenda.expect(engine.host().elapsed() + Duration::from_millis(at.since(now).as_millis())),
        None => agenda.ask(),
    }
}

/// Anything may be due, and nothing remembered is believed.
pub(crate) fn look_everywhere(engine: &Engine) {
    engine.shared.pump.marks.forget_all();
    engine.shared.pump.agenda.ask();
}
