//! What quota policies said to this process lately: how often they refused, and since when they admit nobody.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::id::QuotaPolicyId;

/// Over how long refusals are counted.
const WINDOW: Duration = Duration::from_secs(60);
/// Policies counted before those that refuse nobody any more are forgotten.
const POLICIES_MAX: usize = 1_024;

/// Refusals by policy.
#[derive(Default)]
pub(crate) struct Refusals(Mutex<BTreeMap<QuotaPolicyId, Refused>>);

/// What one policy refused.
#[derive(Default)]
struct Refused {
    /// By the second they fell into.
    seconds: BTreeMap<u64, u64>,
    /// Since when it admits nobody.
    since: Option<Duration>,
}

/// How a policy stood lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lately {
    /// How often it refused in the last minute.
    pub(crate) refused: u64,
    /// Since when it admits nobody, by the host's clock.
    pub(crate) closed_since: Option<Duration>,
}

impl Refusals {
    /// A policy refused.
    pub(super) fn refused(&self, id: QuotaPolicyId, now: Duration) {
        let mut policies = self.policies();
        if policies.len() >= POLICIES_MAX && !policies.contains_key(&id) {
            policies.retain(|_, refused| refused.in_window(now) > 0);
        }
        if policies.len() >= POLICIES_MAX && !policies.contains_key(&id) {
            return;
        }
        let refused = policies.entry(id).or_default();
        refused.slide(now);
        if refused.seconds.is_empty() {
            refused.since = None;
        }
        refused.since.get_or_insert(now);
        *refused.seconds.entry(now.as_secs()).or_default() += 1;
    }

    /// A policy admitted.
    pub(super) fn admitted(&self, id: QuotaPolicyId) {
        if let Some(refused) = self.policies().get_mut(&id) {
            refused.since = None;
        }
    }

    /// How a policy stood in the last minute.
    pub(crate) fn lately(&self, id: QuotaPolicyId, now: Duration) -> Lately {
        let policies = self.policies();
        let Some(found) = policies.get(&id) else {
            return Lately::default();
        };
        let refused = found.in_window(now);
        Lately {
            refused,
            closed_since: found.since.filter(|_| refused > 0),
        }
    }

    fn policies(&self) -> MutexGuard<'_, BTreeMap<QuotaPolicyId, Refused>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Refused {
    fn slide(&mut self, now: Duration) {
        self.seconds = self.seconds.split_off(&first_second(now));
    }

    fn in_window(&self, now: Duration) -> u64 {
        self.seconds
            .range(first_second(now)..)
            .map(|(_, refused)| refused)
            .sum()
    }
}

fn first_second(now: Duration) -> u64 {
    (now.as_secs() + 1).saturating_sub(WINDOW.as_secs())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const POLICY: QuotaPolicyId = QuotaPolicyId::from_uuid(Uuid::from_u128(1));

    fn at(second: u64) -> Duration {
        Duration::from_secs(second)
    }

    fn stood(refused: u64, closed_since: Option<u64>) -> Lately {
        Lately {
            refused,
            closed_since: closed_since.map(at),
        }
    }

    #[test]
    fn refusals_count_for_a_minute() {
        let refusals = Refusals::default();
        assert_eq!(refusals.lately(POLICY, at(0)), Lately::default());
        refusals.refused(POLICY, at(10));
        refusals.refused(POLICY, at(40));
        assert_eq!(refusals.lately(POLICY, at(40)), stood(2, Some(10)));
        assert_eq!(refusals.lately(POLICY, at(70)), stood(1, Some(10)));
        assert_eq!(refusals.lately(POLICY, at(100)), stood(0, None));
        refusals.refused(POLICY, at(200));
        assert_eq!(refusals.lately(POLICY, at(200)), stood(1, Some(200)));
    }

    #[test]
    fn a_policy_that_admits_somebody_is_not_closed() {
        let refusals = Refusals::default();
        refusals.refused(POLICY, at(10));
        refusals.admitted(POLICY);
        assert_eq!(refusals.lately(POLICY, at(11)), stood(1, None));
        refusals.refused(POLICY, at(12));
        assert_eq!(refusals.lately(POLICY, at(12)), stood(2, Some(12)));
    }

    #[test]
    fn policies_that_refuse_nobody_any_more_are_forgotten() {
        let refusals = Refusals::default();
        for number in 0..POLICIES_MAX as u128 {
            refusals.refused(QuotaPolicyId::from_uuid(Uuid::from_u128(number)), at(0));
        }
        let another = QuotaPolicyId::from_uuid(Uuid::from_u128(u128::MAX));
        refusals.refused(another, at(1));
        assert_eq!(
            refusals.lately(another, at(1)).refused,
            0,
            "there are as many as may be"
        );
        refusals.refused(another, at(120));
        assert_eq!(refusals.lately(another, at(120)).refused, 1);
        assert_eq!(refusals.policies().len(), 1);
    }
}
