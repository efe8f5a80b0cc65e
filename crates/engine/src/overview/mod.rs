//! A namespace at a glance, put together once for everybody in this process who looks at it.
//!
//! It is read only for somebody who asks, at most every two seconds, and only when something may have happened since: `look` says
//! what is read. In between, what this process counts, and what time alone changes, is brought up to date without reading anything:
//! `compose` does that. `judge` says what of it a person should know first.

mod compose;
mod judge;
mod look;
mod owners;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ff_core::fabric::Result;
use ff_core::name::Namespace;
use ff_core::time::{Duration as Millis, Timestamp};
use ff_core::view::Overview;
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

use self::look::Facts;
use self::owners::Owners;
use crate::engine::Engine;

/// The shortest time between two readings.
pub(crate) const READ_EVERY: Duration = Duration::from_secs(2);
/// How often rates are brought up to date while there are any.
pub(crate) const RATES_EVERY: Duration = Duration::from_secs(5);
/// Namespaces that are remembered.
const NAMESPACES_MAX: usize = 100;

/// What was seen of each namespace that somebody looked at.
#[derive(Default)]
pub(crate) struct Overviews {
    sights: Mutex<BTreeMap<Namespace, Arc<Sight>>>,
    rung: Arc<Rung>,
    owners: Owners,
}

/// How often each bell rang.
#[derive(Default)]
struct Rung {
    /// Something happened to an execution, a lane, a budget or a quota.
    work: AtomicU64,
    /// A worker said something. Workers say something all the time, and it matters only where work waits.
    workers: AtomicU64,
    /// A lane was set.
    lanes: AtomicU64,
    bell: Arc<Notify>,
}

/// What was seen of a namespace. One reads, the others wait for it.
#[derive(Default)]
pub(crate) struct Sight(tokio::sync::Mutex<Option<Seen>>);

struct Seen {
    overview: Arc<Overview>,
    facts: Facts,
    /// When they were read.
    at: Duration,
    /// When they were judged.
    judged_at: Duration,
    work: u64,
    workers: u64,
}

impl Overviews {
    /// Something happened.
    pub(crate) fn ring(&self) {
        self.rung.work.fetch_add(1, Ordering::Relaxed);
        self.rung.bell.notify_waiters();
    }

    /// A setting changed.
    pub(crate) fn setting_changed(&self, key: &str) {
        if key.starts_with("lane/") {
            self.rung.lanes.fetch_add(1, Ordering::Relaxed);
            self.ring();
        } else if key.starts_with("worker/") {
            self.rung.workers.fetch_add(1, Ordering::Relaxed);
            self.rung.bell.notify_waiters();
        }
    }

    /// Anything may have happened.
    pub(crate) fn ring_all(&self) {
        self.rung.lanes.fetch_add(1, Ordering::Relaxed);
        self.rung.workers.fetch_add(1, Ordering::Relaxed);
        self.ring();
    }

    /// The next time something happens. Make it before looking, await it after.
    pub(crate) fn next_ring(&self) -> OwnedNotified {
        Arc::clone(&self.rung.bell).notified_owned()
    }

    /// What was seen of a namespace; remembered at least for as long as somebody has it.
    pub(crate) fn sight(&self, namespace: &Namespace) -> Arc<Sight> {
        let mut sights = self.sights.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sight) = sights.get(namespace) {
            return Arc::clone(sight);
        }
        if sights.len() >= NAMESPACES_MAX {
            // Those somebody looks at stay; the others are read again when they are wanted.
            sights.retain(|_, sight| Arc::strong_count(sight) > 1);
        }
        Arc::clone(sights.entry(namespace.clone()).or_default())
    }
}

/// What a look came to.
pub(crate) struct Glance {
    pub(crate) overview: Arc<Overview>,
    /// How long to wait before another look may come to something else; `None`: until something happens.
    pub(crate) again_in: Option<Duration>,
    /// Whether something happened that was not read yet.
    pub(crate) has_rung: bool,
}

/// How a namespace fares, as of at most two seconds ago.
pub(crate) async fn glance(engine: &Engine, namespace: &Namespace, sight: &Sight) -> Result<Glance> {
    let mut seen = sight.0.lock().await;
    let rung = &engine.shared.overviews.rung;
    let (work, workers) = (rung.work.load(Ordering::Relaxed), rung.workers.load(Ordering::Relaxed));
    let lanes = rung.lanes.load(Ordering::Relaxed);
    let now = engine.host().elapsed();
    let Some(last) = seen.as_mut() else {
        let facts = look::look(engine, namespace, None, lanes).await?;
        let last = seen.insert(Seen {
            overview: Arc::new(compose::overview(engine, namespace, &facts, facts.as_of)),
            facts,
            at: now,
            judged_at: now,
            work,
            workers,
        });
        return Ok(last.glance(now, false));
    };
    let is_due = last.due_in(now).is_some_and(|left| left.is_zero());
    let has_rung = last.work != work || (last.workers != workers || is_due) && last.facts.has_waiting();
    if has_rung && now.saturating_sub(last.at) >= READ_EVERY {
        last.facts = look::look(engine, namespace, Some(&last.facts), lanes).await?;
        (last.at, last.work, last.workers) = (now, work, workers);
        last.judge(engine, now);
        return Ok(last.glance(now, false));
    }
    if is_due && last.workers != workers {
        last.facts.with_workers(engine, namespace).await?;
        last.workers = workers;
    }
    if is_due || last.has_rates() && now.saturating_sub(last.judged_at) >= RATES_EVERY {
        last.judge(engine, now);
    }
    Ok(last.glance(now, has_rung))
}

impl Seen {
    /// The store's time as far as it is known without asking.
    fn time(&self, engine: &Engine, now: Duration) -> Timestamp {
        let passed = now.saturating_sub(self.at).as_millis();
        let passed = self.facts.as_of + Millis::from_millis(u64::try_from(passed).unwrap_or(u64::MAX));
        engine.store().latest().map_or(passed, |latest| latest.max(passed))
    }

    /// Judges what is known anew. What has not changed keeps its time: nobody is told of it again.
    fn judge(&mut self, engine: &Engine, now: Duration) {
        let time = self.time(engine, now);
        let fresh = compose::overview(engine, &self.overview.namespace, &self.facts, time);
        self.judged_at = now;
        let as_of = self.overview.as_of;
        let is_same = *self.overview == Overview { as_of, ..fresh.clone() };
        if !is_same {
            self.overview = Arc::new(fresh);
        }
    }

    /// How long until what is known says something else because of the time alone.
    fn due_in(&self, now: Duration) -> Option<Duration> {
        let judged = self.judged_at.saturating_sub(self.at).as_millis();
        let judged = self.facts.as_of + Millis::from_millis(u64::try_from(judged).unwrap_or(u64::MAX));
        let due = self.facts.next_at(judged)?.since(judged);
        let due = self.judged_at + Duration::from_millis(due.as_millis());
        Some(due.saturating_sub(now))
    }

    fn has_rates(&self) -> bool {
        let all = &self.overview;
        let rates = [
            all.per_second.submitted,
            all.per_second.completed,
            all.per_second.failed,
        ];
        let of_lanes = all
            .lanes
            .iter()
            .flat_map(|lane| [lane.lane.throughput, lane.failed_per_s]);
        rates.into_iter().chain(of_lanes).any(|rate| rate > 0.0)
    }

    fn glance(&self, now: Duration, has_rung: bool) -> Glance {
        let left = |since: Duration, every: Duration| every.saturating_sub(now.saturating_sub(since));
        let reading = has_rung.then(|| left(self.at, READ_EVERY));
        let rates = self.has_rates().then(|| left(self.judged_at, RATES_EVERY));
        Glance {
            overview: Arc::clone(&self.overview),
            again_in: [reading, rates, self.due_in(now)].into_iter().flatten().min(),
            has_rung,
        }
    }
}
