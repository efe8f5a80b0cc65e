//! What happened, counted by namespace.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use ff_backend::transaction::Transaction;
use ff_core::machine::decided::ClosedReason;
use ff_core::name::Namespace;
use ff_core::record::{Happening, Record};

use super::histogram::{Histogram, WAIT_RANGES};

/// Namespaces that are told apart; what happens in others is counted together.
const NAMESPACES_MAX: usize = 1_000;
/// What those others are called.
pub(super) const OTHERS: &str = "_other";

/// How attempts end, with what a label says.
pub(super) const OUTCOMES: [(ClosedReason, &str); 7] = [
    (ClosedReason::Success, "success"),
    (ClosedReason::Failure, "failure"),
    (ClosedReason::Cancelled, "cancelled"),
    (ClosedReason::Reclaimed, "reclaimed"),
    (ClosedReason::Expired, "expired"),
    (ClosedReason::SuspensionTimeout, "suspension_timeout"),
    (ClosedReason::DependencyImpossible, "dependency_impossible"),
];

/// What happened in one namespace.
pub(super) struct Tally {
    pub(super) submitted: AtomicU64,
    pub(super) retries: AtomicU64,
    pub(super) lease_expiries: AtomicU64,
    pub(super) signals: AtomicU64,
    pub(super) stream_bytes: AtomicU64,
    /// By the place of their outcome.
    pub(super) attempts: [AtomicU64; OUTCOMES.len()],
    pub(super) claim_latency: Histogram,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            submitted: AtomicU64::default(),
            retries: AtomicU64::default(),
            lease_expiries: AtomicU64::default(),
            signals: AtomicU64::default(),
            stream_bytes: AtomicU64::default(),
            attempts: Default::default(),
            claim_latency: Histogram::new(WAIT_RANGES),
        }
    }
}

/// What happened, by namespace.
#[derive(Default)]
pub(super) struct Tallies {
    known: RwLock<HashMap<Namespace, Arc<Tally>>>,
    /// There once somebody needs it.
    others: OnceLock<Arc<Tally>>,
}

impl Tallies {
    /// Where to count what happens in a namespace.
    pub(super) fn of(&self, namespace: &Namespace) -> Arc<Tally> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(tally) = known.get(namespace) {
            return Arc::clone(tally);
        }
        let is_one_more = known.len() >= NAMESPACES_MAX || namespace.as_str() == OTHERS;
        drop(known);
        if is_one_more {
            return Arc::clone(self.others.get_or_init(Arc::default));
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(namespace.clone()).or_default())
    }

    /// All of them, or that of one namespace, by name.
    pub(super) fn list(&self, only: Option<&Namespace>) -> Vec<(String, Arc<Tally>)> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let shown = known
            .iter()
            .filter(|(namespace, _)| only.is_none_or(|only| only == *namespace));
        let mut tallies: Vec<_> = shown
            .map(|(namespace, tally)| (namespace.as_str().to_owned(), Arc::clone(tally)))
            .collect();
        let others = self.others.get().filter(|_| only.is_none());
        tallies.extend(others.map(|others| (OTHERS.to_owned(), Arc::clone(others))));
        tallies.sort_by(|(a, _), (b, _)| a.cmp(b));
        tallies
    }

    /// Counts what a transaction of this process did.
    pub(super) fn committed(&self, transaction: &Transaction) {
        for line in &transaction.history {
            let counter: fn(&Tally) -> &AtomicU64 = match line.what {
                Happening::Created => |tally| &tally.submitted,
                Happening::RetryScheduled => |tally| &tally.retries,
                Happening::LeaseExpired => |tally| &tally.lease_expiries,
                Happening::Signalled => |tally| &tally.signals,
                _ => continue,
            };
            add(counter(&self.of(&line.namespace)), 1);
        }
        for end in &transaction.stream_ends {
            let ended = transaction.puts.iter().find_map(|put| match &put.record {
                Record::Execution(execution) if execution.id == end.execution_id => Some(execution),
                _ => None,
            });
            let outcome = OUTCOMES.iter().position(|(reason, _)| *reason == end.reason);
            if let (Some(execution), Some(outcome)) = (ended, outcome) {
                add(&self.of(&execution.definition.namespace).attempts[outcome], 1);
            }
        }
    }
}

pub(super) fn add(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_in_too_many_namespaces_is_counted_together() {
        let tallies = Tallies::default();
        for number in 0..NAMESPACES_MAX + 5 {
            let namespace = Namespace::parse(format!("tenant-{number:04}")).expect("a name");
            add(&tallies.of(&namespace).submitted, 1);
            add(&tallies.of(&namespace).submitted, 1);
        }
        let listed = tallies.list(None);
        assert_eq!(listed.len(), NAMESPACES_MAX + 1);
        let (name, others) = &listed[0];
        assert_eq!((name.as_str(), others.submitted.load(Ordering::Relaxed)), (OTHERS, 10));
        assert_eq!(listed[1].0, "tenant-0000");
    }

    #[test]
    fn whoever_is_bound_to_a_namespace_sees_its_own() {
        let tallies = Tallies::default();
        let [own, other] = ["own", "other"].map(|name| Namespace::parse(name).expect("a name"));
        add(&tallies.of(&own).retries, 3);
        add(&tallies.of(&other).retries, 4);
        let listed = tallies.list(Some(&own));
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].0, "own");
    }
}
