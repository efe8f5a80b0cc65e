//! The end of a worker: nothing new, what has not begun goes back, what runs may finish.

use std::sync::Arc;
use std::time::Duration;

use ff_core::command::worker::{Heartbeat, NamedInstance};
use ff_core::record::Drain as OperatorsDrain;
use tokio::time::Instant;

use super::super::drain::DrainThen;
use super::held::PATIENCE;
use super::{Loop, in_time};
use crate::ctx::Stop;

/// How long taking leave may take.
const LEAVE_PATIENCE: Duration = Duration::from_secs(5);

/// A worker on its way to its end.
pub(super) struct Draining {
    /// When running handlers are asked to stop; absent: they were.
    ask_at: Option<Instant>,
}

impl Draining {
    pub(super) const fn next_moment(&self) -> Option<Instant> {
        self.ask_at
    }
}

impl Loop {
    /// Runs nothing new from now on.
    pub(super) fn drain(&mut self) {
        if self.draining.is_some() {
            return;
        }
        let running = self.running();
        tracing::info!(
            running,
            "the worker takes no more tasks and ends when those that run have"
        );
        // What it would have been handed comes back by itself: first leases are short.
        self.claiming = None;
        self.claim_not_before = None;
        for (number, _) in std::mem::take(&mut self.waiting) {
            self.give_back(number);
        }
        let ask_at = Instant::now() + self.shared.drain.timeout;
        self.draining = Some(Draining { ask_at: Some(ask_at) });
    }

    /// Drops every handler and gives the tasks back.
    pub(super) fn abandon(&mut self) {
        self.drain();
        for held in self.held.values() {
            // Dropped, it says that it is gone.
            if let Some(running) = &held.running {
                running.abort();
            }
        }
    }

    /// Drops everything, and says nothing to anybody.
    #[cfg(feature = "test")]
    pub(super) fn crash(&mut self) {
        self.has_crashed = true;
        for (_, held) in self.held.drain() {
            if let Some(running) = held.running {
                running.abort();
            }
        }
    }

    fn give_back(&mut self, number: u64) {
        let gone = super::Said {
            lease: number,
            word: super::super::lease::Word::Gone,
        };
        self.hear(gone);
    }

    pub(super) fn go_on_draining(&mut self, now: Instant) {
        let Some(draining) = &mut self.draining else { return };
        if draining.ask_at.is_none_or(|at| at > now) {
            return;
        }
        draining.ask_at = None;
        let patience = match self.shared.drain.then {
            DrainThen::AtStep => None,
            DrainThen::Drop => Some(PATIENCE),
        };
        for held in self.held.values_mut() {
            held.stop(Stop::Draining, patience);
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_crashed || self.draining.is_some() && self.held.is_empty() && self.taking == 0
    }

    /// Says that this process is gone; whether that is heard does not matter, it would be noticed.
    pub(super) fn take_leave(&self) -> impl Future<Output = ()> + use<> {
        let identity = &self.shared.identity;
        let leave = NamedInstance {
            namespace: identity.namespace.clone(),
            process: Heartbeat {
                instance: identity.instance.clone(),
                incarnation: identity.incarnation,
            },
        };
        let fabric = Arc::clone(&self.shared.fabric);
        async move {
            if let Err(refusal) = in_time(LEAVE_PATIENCE, fabric.deregister_worker(leave)).await {
                tracing::debug!(%refusal, "the worker could not take its leave");
            }
        }
    }

    /// An operator wants this process to finish what it has: it is handed nothing, and asks on in case that changes.
    pub(super) fn tell_of_drain(&mut self, drain: Option<&OperatorsDrain>) {
        match drain {
            Some(drain) if !self.told_of_drain => {
                tracing::info!(
                    reason = drain.reason,
                    "an operator drains this worker: it is handed no more tasks"
                );
            }
            None if self.told_of_drain => tracing::info!("this worker is no longer drained"),
            _ => {}
        }
        self.told_of_drain = drain.is_some();
    }
}
