//! A page of metrics, as one caller may see it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::Ordering;

use ff_core::name::Namespace;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::calls::{CALLS, CONFLICTS, FAILURES};
use super::metric::Metric;
use super::pump::DutyOutcome;
use super::survey::{Reading, Survey, survey};
use super::table;
use super::tally::{OTHERS, OUTCOMES, Tally};
use crate::engine::Engine;
use crate::pump::{Duty, failing_items};

/// One of the counters of a tally.
type Value = fn(&Tally) -> u64;

/// Lanes that are told apart; the others are summed.
const LANES_MAX: usize = 1_000;

/// What is known at the moment of a scrape.
pub struct Scrape {
    engine: Engine,
    store: Reading,
}

impl Engine {
    /// What this process counted and what stands in the store, as far as the caller may see it: a caller bound to a namespace
    /// sees what belongs to that one.
    pub async fn metrics(&self) -> Scrape {
        Scrape {
            engine: self.clone(),
            store: survey(self).await,
        }
    }
}

impl fmt::Debug for Scrape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scrape").finish_non_exhaustive()
    }
}

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        if let Some(survey) = &self.store.found {
            self.lanes(&mut encoder, survey)?;
            self.limits(&mut encoder, survey)?;
        }
        self.happenings(&mut encoder)?;
        match self.only() {
            Some(_) => Ok(()),
            None => self.process(&mut encoder),
        }
    }
}

impl Scrape {
    fn only(&self) -> Option<&Namespace> {
        self.engine.caller.namespace.as_ref()
    }

    fn shows(&self, namespace: &Namespace) -> bool {
        self.engine.caller.sees(namespace)
    }

    fn lanes(&self, encoder: &mut DescriptorEncoder<'_>, survey: &Survey) -> fmt::Result {
        let shown = survey.lanes.iter().filter(|(namespace, _)| self.shows(namespace));
        let mut depths: BTreeMap<(&str, &str, &str), u64> = BTreeMap::new();
        let mut oldest: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for (position, (namespace, lane)) in shown.enumerate() {
            let own_name = (namespace.as_str(), lane.lane.as_str());
            // A caller of one namespace knows what the others are; for everybody else they are of any.
            let (namespace, name) = match (position < LANES_MAX, self.only()) {
                (true, _) => own_name,
                (false, Some(_)) => (own_name.0, OTHERS),
                (false, None) => (OTHERS, OTHERS),
            };
            for (state, count) in &lane.depth {
                *depths.entry((namespace, name, state.as_str())).or_default() += count;
            }
            let age = lane.oldest_eligible.map_or(0, |at| survey.now.since(at).as_millis());
            let oldest = oldest.entry((namespace, name)).or_default();
            *oldest = age.max(*oldest);
        }
        let mut family = table::EXECUTIONS.begin(encoder)?;
        for ((namespace, lane, state), count) in depths {
            family.gauge([namespace, lane, state], &count)?;
        }
        let mut family = table::OLDEST_ELIGIBLE.begin(encoder)?;
        for ((namespace, lane), millis) in oldest {
            family.gauge(
                [namespace, lane],
                &super::histogram::seconds(millis.saturating_mul(1_000)),
            )?;
        }
        Ok(())
    }

    fn limits(&self, encoder: &mut DescriptorEncoder<'_>, survey: &Survey) -> fmt::Result {
        let counted = [
            (&table::BLOCKING, &survey.blocking),
            (&table::BUDGETS_OVER, &survey.over_limit),
        ];
        for (metric, counts) in counted {
            let mut family = metric.begin(encoder)?;
            for ((namespace, what), count) in counts.iter().filter(|((namespace, _), _)| self.shows(namespace)) {
                family.gauge([namespace.as_str(), what], count)?;
            }
        }
        let mut family = table::PROBLEMS.begin(encoder)?;
        for ((namespace, kind), count) in &survey.problems {
            let is_shown = match namespace {
                Some(namespace) => self.shows(namespace),
                None => self.only().is_none(),
            };
            if is_shown {
                let namespace = namespace.as_ref().map_or("", Namespace::as_str);
                family.gauge([namespace, kind.as_str()], count)?;
            }
        }
        Ok(())
    }

    fn happenings(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let tallies = self.engine.shared.metrics.tallies.list(self.only());
        let counters: [(&'static Metric, Value); 5] = [
            (&table::SUBMITTED, |tally| tally.submitted.load(Ordering::Relaxed)),
            (&table::RETRIES, |tally| tally.retries.load(Ordering::Relaxed)),
            (&table::LEASE_EXPIRIES, |tally| {
                tally.lease_expiries.load(Ordering::Relaxed)
            }),
            (&table::SIGNALS, |tally| tally.signals.load(Ordering::Relaxed)),
            (&table::STREAM_BYTES, |tally| tally.stream_bytes.load(Ordering::Relaxed)),
        ];
        for (metric, value) in counters {
            let mut family = metric.begin(encoder)?;
            for (namespace, tally) in &tallies {
                family.counter([namespace], &value(tally))?;
            }
        }
        let mut family = table::CLAIM_LATENCY.begin(encoder)?;
        for (namespace, tally) in &tallies {
            family.histogram([namespace], &tally.claim_latency)?;
        }
        let mut family = table::ATTEMPTS.begin(encoder)?;
        for (namespace, tally) in &tallies {
            for ((_, outcome), count) in OUTCOMES.iter().zip(&tally.attempts) {
                family.counter([namespace, outcome], &count.load(Ordering::Relaxed))?;
            }
        }
        Ok(())
    }

    /// What is of no namespace.
    fn process(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let shared = &self.engine.shared;
        table::STORE_UP
            .begin(encoder)?
            .gauge([], &u64::from(self.store.found.is_some()))?;
        table::STORE_READ
            .begin(encoder)?
            .gauge([], &self.store.took.as_secs_f64())?;
        let calls = &shared.metrics.calls;
        let mut family = table::BACKEND_CALLS.begin(encoder)?;
        for (call, took) in CALLS.iter().zip(&calls.took) {
            family.histogram([call], took)?;
        }
        let mut family = table::BACKEND_FAILURES.begin(encoder)?;
        for (call, failures) in CALLS.iter().zip(&calls.failures) {
            for (kind, count) in FAILURES.iter().zip(failures) {
                family.counter([call, kind], &count.load(Ordering::Relaxed))?;
            }
        }
        let mut family = table::CONFLICTS.begin(encoder)?;
        for (reason, count) in CONFLICTS.iter().zip(&calls.conflicts) {
            family.counter([reason], &count.load(Ordering::Relaxed))?;
        }
        let pump = &shared.metrics.pump;
        table::PUMP_LAG.begin(encoder)?.histogram([], &pump.lag)?;
        let mut family = table::PUMP_DUTIES.begin(encoder)?;
        for (duty, counts) in Duty::ALL.iter().zip(&pump.duties) {
            for ((_, outcome), count) in DutyOutcome::ALL.iter().zip(counts) {
                family.counter([duty.as_str(), outcome], &count.load(Ordering::Relaxed))?;
            }
        }
        let failing = u64::try_from(failing_items(&self.engine).len()).unwrap_or(u64::MAX);
        table::PUMP_PUSHED_BACK.begin(encoder)?.gauge([], &failing)?;
        table::REPAIRED.begin(encoder)?.counter([], &self.engine.repaired())
    }
}
