//! What happened in this process, minute by minute, for charts: counted where a commit lands, at no call to the store.
//!
//! `track` is what is remembered of one thing, and how several are added up; `tracks` finds it. `kept` keeps it over the end of the
//! process and tells it to the others, in one setting per process and hour; `others` reads theirs. `lately` is what is asked all the
//! time. Every commit takes the lock of what is counted here: whoever reads holds it for one track at a time, and adds up outside.

mod kept;
mod lately;
mod others;
mod track;
mod tracks;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use ff_backend::load::Snapshot;
use ff_backend::query::LaneDepth;
use ff_backend::transaction::Transaction;
use ff_core::id::BudgetId;
use ff_core::name::{Dimension, Namespace};
use ff_core::record::{Execution, Happening, Record, RecordKey};
use ff_core::state::{PublicState, public_state};
use ff_core::time::{Duration, Timestamp};
use tokio::sync::Notify;

pub(crate) use self::kept::keep;
use self::others::Others;
pub(crate) use self::others::learn_of_others;
pub(crate) use self::track::{GAUGES, KIND_COUNTS, LANE_COUNTS, Track, TrackName, percentile};
use self::track::{bucket_of, class_of};
use self::tracks::Tracks;
pub(crate) use self::tracks::{Group, Wanted};

/// How many minutes are remembered.
pub(crate) const MINUTES_KEPT: u64 = 24 * 60;
/// How many numbers are remembered at once, of all minutes together; the oldest are forgotten first.
const CELLS_MAX: usize = 200_000;
/// Budgets whose namespace is remembered; with more of them it is learned again.
const BUDGETS_MAX: usize = 10_000;

/// What happened.
#[derive(Default)]
pub(crate) struct Minutes {
    state: Mutex<State>,
    /// There is something to keep.
    counted: Notify,
    /// The name of this process among those who keep what they counted.
    own_name: OnceLock<String>,
    others: Mutex<Others>,
    /// One reads what others have counted, the rest wait for it.
    reading: tokio::sync::Mutex<()>,
    /// Whose the budgets are that were charged here without a lease. That never changes.
    budgets: Mutex<HashMap<BudgetId, Namespace>>,
}

#[derive(Default)]
struct State {
    own: Tracks,
    /// How many things of each class there are.
    things: HashMap<&'static str, usize>,
    cells: usize,
    /// Hours of which something is not kept yet.
    unkept: BTreeSet<u64>,
}

/// The minute a moment is in.
pub(crate) const fn minute_of(at: Timestamp) -> u64 {
    at.as_millis() / 60_000
}

impl Minutes {
    /// A transaction of this process has landed.
    pub(crate) fn committed(&self, transaction: &Transaction, snapshot: &Snapshot, now: Timestamp) {
        // Locked only when there is something to count.
        let mut counting: Option<MutexGuard<'_, State>> = None;
        for line in &transaction.history {
            let column = match line.what {
                Happening::Created => LANE_COUNTS.submitted,
                Happening::RetryScheduled => LANE_COUNTS.retried,
                Happening::LeaseExpired => LANE_COUNTS.lease_lost,
                _ => continue,
            };
            if let Some(lane) = &line.lane {
                let state = counting.get_or_insert_with(|| self.state());
                state.add(&line.namespace, TrackName::Lane(lane.clone()), now, &[(column, 1)]);
            }
        }
        for put in &transaction.puts {
            if let Record::Execution(execution) = &put.record {
                let before = snapshot.execution(&RecordKey::Execution(execution.id));
                if execution.is_terminal() && !before.is_some_and(Execution::is_terminal) {
                    counting.get_or_insert_with(|| self.state()).ended(execution, now);
                }
                if has_spent(execution, before) {
                    counting
                        .get_or_insert_with(|| self.state())
                        .spent(execution, before, now);
                }
            }
        }
        if counting.is_some() {
            drop(counting);
            self.counted.notify_one();
        }
    }

    /// An execution was handed to a worker, for which it had stood ready this long.
    pub(crate) fn handed_out(&self, execution: &Execution, waited: Duration, now: Timestamp) {
        let definition = &execution.definition;
        let counts = [(LANE_COUNTS.started, 1), (LANE_COUNTS.waited, waited.as_millis())];
        let lane = TrackName::Lane(definition.lane.clone());
        self.state().add(&definition.namespace, lane, now, &counts);
        self.counted.notify_one();
    }

    /// Somebody saw how much of each lane is in which state.
    pub(crate) fn saw(&self, namespace: &Namespace, lanes: &[LaneDepth], now: Timestamp) {
        let mut state = self.state();
        for lane in lanes {
            let of = |state| lane.depth.get(&state).copied().unwrap_or_default();
            let oldest = lane.oldest_eligible.map_or(0, |at| now.since(at).as_millis());
            let seen = [of(PublicState::Waiting), of(PublicState::Active), oldest];
            state.set(namespace, TrackName::Gauge(lane.lane.clone()), now, &seen);
        }
    }

    /// A budget of the namespace was charged by somebody who holds no lease.
    pub(crate) fn charged(
        &self,
        namespace: &Namespace,
        budget: BudgetId,
        deltas: &BTreeMap<Dimension, u64>,
        now: Timestamp,
    ) {
        let mut state = self.state();
        for (dimension, amount) in deltas.iter().filter(|(_, amount)| **amount > 0) {
            let name = TrackName::Spent {
                budget,
                dimension: dimension.clone(),
                kind: None,
            };
            state.add(namespace, name, now, &[(0, *amount)]);
        }
        drop(state);
        let mut budgets = self.budgets();
        if budgets.len() >= BUDGETS_MAX {
            budgets.clear();
        }
        budgets.insert(budget, namespace.clone());
        drop(budgets);
        self.counted.notify_one();
    }

    /// Whose a budget is that was charged here before.
    pub(crate) fn namespace_of(&self, budget: BudgetId) -> Option<Namespace> {
        self.budgets().get(&budget).cloned()
    }

    /// What is known of what is asked for, from a minute on, by name.
    pub(crate) fn of(&self, namespace: &Namespace, from: u64, wanted: &Wanted) -> Vec<(TrackName, Track)> {
        let names: Vec<TrackName> = {
            let state = self.state();
            let own = state.own.find(namespace, wanted);
            own.map(|(name, _)| name.clone()).collect()
        };
        let mut found: BTreeMap<TrackName, Track> = BTreeMap::new();
        for name in names {
            // What is forgotten in between is not missed.
            let own = self
                .state()
                .own
                .get(namespace, &name)
                .map(|track| track.copy_since(from));
            found.insert(name, own.unwrap_or_default());
        }
        let others = self.others().since(from);
        for tracks in &others {
            for (name, track) in tracks.find(namespace, wanted) {
                let all = found.entry(name.clone()).or_default();
                all.merge(track, from, name);
            }
        }
        found.retain(|_, track| !track.is_empty());
        found.into_iter().collect()
    }

    fn others(&self) -> MutexGuard<'_, Others> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn budgets(&self) -> MutexGuard<'_, HashMap<BudgetId, Namespace>> {
        self.budgets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a commit reported usage.
fn has_spent(execution: &Execution, before: Option<&Execution>) -> bool {
    let usage = |execution: &Execution| {
        let attempt = execution.attempt.as_ref()?;
        Some((attempt.id, attempt.usage.clone()))
    };
    let is_any = execution
        .attempt
        .as_ref()
        .is_some_and(|attempt| !attempt.usage.is_empty());
    is_any && before.is_some_and(|before| usage(before) != usage(execution))
}

impl State {
    fn add(&mut self, namespace: &Namespace, name: TrackName, now: Timestamp, counts: &[(usize, u64)]) {
        let minute = minute_of(now);
        self.unkept.insert(minute / 60);
        let columns = name.columns();
        let is_new = self.track(namespace, name).add(minute, columns, counts);
        self.grew(is_new);
    }

    fn set(&mut self, namespace: &Namespace, name: TrackName, now: Timestamp, seen: &[u64]) {
        let is_new = self.track(namespace, name).set(minute_of(now), seen);
        self.grew(is_new);
    }

    /// Takes back what was counted in this minute or the one before.
    fn take(&mut self, namespace: &Namespace, name: &TrackName, now: Timestamp, mut amount: u64) {
        let minute = minute_of(now);
        for minute in [minute, minute.saturating_sub(1)] {
            let left = self.track(namespace, name.clone()).take(minute, 0, amount);
            if left < amount {
                self.unkept.insert(minute / 60);
            }
            amount = left;
        }
    }

    /// The track of a thing, or of everything beyond as many as are told apart.
    fn track(&mut self, namespace: &Namespace, name: TrackName) -> &mut Track {
        if self.own.get(namespace, &name).is_some() {
            return self.own.entry(namespace, name);
        }
        let (class, most) = class_of(&name);
        let things = self.things.entry(class).or_default();
        if *things >= most {
            return self.own.entry(namespace, name.other());
        }
        *things += 1;
        self.own.entry(namespace, name)
    }

    fn grew(&mut self, is_new: bool) {
        self.cells += usize::from(is_new);
        if self.cells > CELLS_MAX {
            // An hour at once, so that this is rare.
            let first = self.own.all().filter_map(|(_, _, track)| track.first()).min();
            self.forget_before(first.unwrap_or_default() + 60);
        }
    }

    fn forget_before(&mut self, minute: u64) {
        self.own.forget_before(minute);
        self.cells = self.own.all().map(|(_, _, track)| track.len()).sum();
        self.things.clear();
        for (_, name, _) in self.own.all().filter(|(_, name, _)| !name.is_other()) {
            *self.things.entry(class_of(name).0).or_default() += 1;
        }
    }

    fn ended(&mut self, execution: &Execution, now: Timestamp) {
        let definition = &execution.definition;
        let state = public_state(execution);
        let ran = execution.attempt.as_ref().map(|attempt| attempt.leased.as_millis());
        let column = match state {
            PublicState::Completed => LANE_COUNTS.completed,
            PublicState::Failed => LANE_COUNTS.failed,
            PublicState::Cancelled => LANE_COUNTS.cancelled,
            PublicState::Expired => LANE_COUNTS.expired,
            PublicState::Skipped => LANE_COUNTS.skipped,
            _ => return,
        };
        let counts = [(column, 1), (LANE_COUNTS.ran, ran.unwrap_or_default())];
        let lane = TrackName::Lane(definition.lane.clone());
        self.add(&definition.namespace, lane, now, &counts);
        let counts = match state {
            PublicState::Completed => vec![
                (KIND_COUNTS.completed, 1),
                (KIND_COUNTS.ran, ran.unwrap_or_default()),
                (KIND_COUNTS.buckets + bucket_of(ran.unwrap_or_default()), 1),
            ],
            PublicState::Failed | PublicState::Expired => vec![(KIND_COUNTS.failed, 1)],
            _ => return,
        };
        let kind = TrackName::Kind(definition.kind.clone());
        self.add(&definition.namespace, kind, now, &counts);
    }

    /// What an execution reported with this commit. A report that its budget knew from another one is taken off the attempt, and
    /// off what was counted.
    fn spent(&mut self, execution: &Execution, before: Option<&Execution>, now: Timestamp) {
        let Some(attempt) = &execution.attempt else { return };
        let same = before
            .and_then(|before| before.attempt.as_ref())
            .filter(|before| before.id == attempt.id);
        for (budget, usage) in &attempt.usage {
            for (dimension, amount) in usage {
                let was = same
                    .and_then(|before| before.usage.get(budget)?.get(dimension))
                    .copied();
                let was = was.unwrap_or_default();
                if *amount == was {
                    continue;
                }
                let namespace = &execution.definition.namespace;
                let name = TrackName::Spent {
                    budget: *budget,
                    dimension: dimension.clone(),
                    kind: Some(execution.definition.kind.clone()),
                };
                match amount.checked_sub(was) {
                    Some(spent) => self.add(namespace, name, now, &[(0, spent)]),
                    None => self.take(namespace, &name, now, was - *amount),
                }
            }
        }
    }
}
