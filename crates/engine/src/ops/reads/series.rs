//! series: what happened, in columns.

use ff_core::fabric::Result;
use ff_core::limits::SERIES_KEPT_FOR;
use ff_core::name::Namespace;
use ff_core::time::{Duration, Timestamp};
use ff_core::view::{Columns, ReadSeries, Series, SeriesOf};

use crate::engine::Engine;
use crate::series::{
    GAUGES, Group, KIND_COUNTS, LANE_COUNTS, Track, TrackName, Wanted, learn_of_others, minute_of, percentile,
};

/// For how long back series are answered unless another time is asked for.
const SHOWN: Duration = Duration::from_hours(1);

/// What others have counted belongs to it: when that cannot be read, this says so instead of showing less than there was.
pub(crate) async fn series(engine: &Engine, request: ReadSeries) -> Result<Series> {
    request.check()?;
    engine.check_namespace(&request.namespace)?;
    let as_of = learn_of_others(engine).await?;
    let now = engine.store_time().await?;
    let step = request.step.as_millis() / 60_000;
    let oldest = now - SERIES_KEPT_FOR;
    let from = request.from.unwrap_or(now - SHOWN).max(oldest).min(now);
    let steps = Steps::new(minute_of(from), minute_of(now), step);
    let of = if request.of.is_empty() {
        vec![SeriesOf::All]
    } else {
        request.of
    };
    Ok(Series {
        from: Timestamp::from_millis(steps.first * 60_000),
        step: request.step,
        as_of,
        series: of
            .into_iter()
            .map(|of| columns(engine, &request.namespace, of, &steps))
            .collect(),
        namespace: request.namespace,
    })
}

/// Minutes, some of them at a time.
pub(crate) struct Steps {
    first: u64,
    step: u64,
    count: u64,
}

impl Steps {
    /// From the step that a minute is in to the one that another is in.
    pub(crate) fn new(from: u64, until: u64, step: u64) -> Self {
        let first = from / step * step;
        Self {
            first,
            step,
            count: (until.saturating_sub(first)) / step + 1,
        }
    }

    /// The sum of a number over each step.
    fn sums(&self, tracks: &[(TrackName, Track)], column: usize) -> Vec<u64> {
        let mut sums = vec![0_u64; usize::try_from(self.count).unwrap_or_default()];
        for (_, track) in tracks {
            for minute in track.minutes().filter(|minute| *minute >= self.first) {
                let place = usize::try_from((minute - self.first) / self.step).unwrap_or(usize::MAX);
                if let (Some(sum), Some(number)) = (sums.get_mut(place), track.get(minute, column)) {
                    *sum = sum.saturating_add(number);
                }
            }
        }
        sums
    }

    /// The last number seen in each step, put together from all tracks.
    fn seen(
        &self,
        tracks: &[(TrackName, Track)],
        column: usize,
        together: impl Fn(u64, u64) -> u64,
    ) -> Vec<Option<u64>> {
        let mut seen = vec![None; usize::try_from(self.count).unwrap_or_default()];
        for (_, track) in tracks {
            let mut own = vec![None; seen.len()];
            for minute in track.minutes().filter(|minute| *minute >= self.first) {
                let place = usize::try_from((minute - self.first) / self.step).unwrap_or(usize::MAX);
                if let Some(last) = own.get_mut(place) {
                    *last = track.get(minute, column);
                }
            }
            for (all, own) in seen.iter_mut().zip(own) {
                *all = match (*all, own) {
                    (Some(all), Some(own)) => Some(together(all, own)),
                    (all, own) => all.or(own),
                };
            }
        }
        seen
    }
}

/// The numbers of one thing.
pub(crate) fn columns(engine: &Engine, namespace: &Namespace, of: SeriesOf, steps: &Steps) -> Columns {
    let tracks = |wanted| engine.shared.minutes.of(namespace, steps.first, &wanted);
    let none = Columns::none(of.clone());
    match of {
        SeriesOf::All => {
            let (counts, gauges) = (Wanted::All(Group::Lanes), Wanted::All(Group::Gauges));
            of_lanes(none, steps, &tracks(counts), &tracks(gauges))
        }
        SeriesOf::Lane(lane) => {
            let (counts, gauges) = (TrackName::Lane(lane.clone()), TrackName::Gauge(lane));
            of_lanes(none, steps, &tracks(Wanted::One(counts)), &tracks(Wanted::One(gauges)))
        }
        SeriesOf::Kind(kind) => of_kind(none, steps, &tracks(Wanted::One(TrackName::Kind(kind)))),
        SeriesOf::Budget(id) => of_budget(none, steps, tracks(Wanted::All(Group::Spent(id)))),
    }
}

fn of_lanes(none: Columns, steps: &Steps, counts: &[(TrackName, Track)], gauges: &[(TrackName, Track)]) -> Columns {
    let sums = |column| steps.sums(counts, column);
    let [waiting, running, oldest]: [usize; GAUGES] = [0, 1, 2];
    Columns {
        submitted: sums(LANE_COUNTS.submitted),
        started: sums(LANE_COUNTS.started),
        completed: sums(LANE_COUNTS.completed),
        failed: sums(LANE_COUNTS.failed),
        cancelled: sums(LANE_COUNTS.cancelled),
        expired: sums(LANE_COUNTS.expired),
        skipped: sums(LANE_COUNTS.skipped),
        retried: sums(LANE_COUNTS.retried),
        lease_lost: sums(LANE_COUNTS.lease_lost),
        waited: sums(LANE_COUNTS.waited),
        ran: sums(LANE_COUNTS.ran),
        waiting: steps.seen(gauges, waiting, |one, other| one + other),
        running: steps.seen(gauges, running, |one, other| one + other),
        oldest: steps.seen(gauges, oldest, u64::max),
        ..none
    }
}

fn of_kind(none: Columns, steps: &Steps, counts: &[(TrackName, Track)]) -> Columns {
    let buckets: Vec<Vec<u64>> = (KIND_COUNTS.buckets..KIND_COUNTS.buckets + 16)
        .map(|column| steps.sums(counts, column))
        .collect();
    let percentiles = |of_hundred| {
        let places = 0..buckets[0].len();
        let at = |place: usize| buckets.iter().map(|bucket| bucket[place]).collect::<Vec<u64>>();
        places.map(|place| percentile(&at(place), of_hundred)).collect()
    };
    Columns {
        completed: steps.sums(counts, KIND_COUNTS.completed),
        failed: steps.sums(counts, KIND_COUNTS.failed),
        ran: steps.sums(counts, KIND_COUNTS.ran),
        p50: percentiles(50),
        p95: percentiles(95),
        ..none
    }
}

fn of_budget(mut columns: Columns, steps: &Steps, spent: Vec<(TrackName, Track)>) -> Columns {
    for (name, track) in spent {
        let TrackName::Spent { dimension, kind, .. } = &name else {
            continue;
        };
        let (dimension, kind) = (dimension.clone(), kind.clone());
        let used = steps.sums(&[(name, track)], 0);
        let of = columns.dimensions.entry(dimension).or_default();
        if of.used.is_empty() {
            of.used = vec![0; used.len()];
        }
        of.used.iter_mut().zip(&used).for_each(|(sum, used)| *sum += used);
        // What nobody's execution reported is only in the sum.
        if let Some(kind) = kind {
            of.by_kind.insert(kind.to_string(), used);
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ff_backend::memory::MemoryBackend;
    use ff_core::command::budget::{ChargeBudget, CreateBudget, Reported};
    use ff_core::command::claim::{Claim, Task};
    use ff_core::command::lease::ReportUsage;
    use ff_core::command::submit::CreateExecution;
    use ff_core::fabric::{Fabric, On};
    use ff_core::id::BudgetId;
    use ff_core::name::{Dimension, ExecutionKind, IdempotencyKey};
    use ff_core::partition::PartitionCounts;
    use ff_core::payload::Payload;
    use serde_json::json;

    use super::*;
    use crate::{Config, VirtualHost};

    #[test]
    fn steps_begin_at_multiples_and_hold_the_minute_under_way() {
        let steps = Steps::new(103, 121, 5);
        assert_eq!((steps.first, steps.count), (100, 5));
        let steps = Steps::new(121, 121, 1);
        assert_eq!((steps.first, steps.count), (121, 1));
    }

    fn engine() -> Engine {
        let counts = PartitionCounts::new(2, 1, 1).unwrap();
        let backend = MemoryBackend::new(Timestamp::from_millis(1_700_000_000_000), counts);
        Engine::new(Arc::new(backend), Arc::new(VirtualHost::new(1)), Config::new(counts))
    }

    async fn budget(engine: &Engine) -> BudgetId {
        let command = json!({ "namespace": "default", "dimensions": { "tokens": { "hard": 10 } } });
        let command: CreateBudget = serde_json::from_value(command).unwrap();
        engine.create_budget(command).await.unwrap().budget_id
    }

    fn tokens() -> Dimension {
        Dimension::parse("tokens").unwrap()
    }

    async fn charge(engine: &Engine, budget: BudgetId, amount: u64, key: Option<&str>) -> Reported {
        let charge = ChargeBudget {
            deltas: [(tokens(), amount)].into(),
            dedup_key: key.map(|key| IdempotencyKey::parse(key).unwrap()),
            request_id: None,
        };
        engine.charge_budget(On::new(budget, charge)).await.unwrap()
    }

    /// A worker that holds an execution.
    async fn task(engine: &Engine) -> Task {
        let submission = CreateExecution::new(ExecutionKind::parse("job").unwrap(), Payload::default());
        engine.create_execution(submission).await.unwrap();
        let want = json!({ "lanes": ["default"] });
        let claim = json!({ "worker_id": "worker", "worker_instance_id": "worker-1", "..want": want });
        let claim: Claim = serde_json::from_value(claim).unwrap();
        engine.claim(claim).await.unwrap().remove(0)
    }

    async fn report(engine: &Engine, task: &Task, budget_id: BudgetId, amount: u64, key: &str) -> Reported {
        let report = ReportUsage {
            fence: Some(task.fence),
            budget_id,
            deltas: [(tokens(), amount)].into(),
            dedup_key: Some(IdempotencyKey::parse(key).unwrap()),
            request_id: None,
        };
        engine.report_usage(On::new(task.execution_id, report)).await.unwrap()
    }

    /// What a budget was charged, all together and by executions of `job`; `None`: nothing is known of it.
    async fn used(engine: &Engine, namespace: &str, budget: BudgetId) -> Option<(u64, u64)> {
        let request = ReadSeries {
            namespace: Namespace::parse(namespace).unwrap(),
            of: vec![SeriesOf::Budget(budget)],
            from: None,
            step: Duration::from_secs(60),
        };
        let told = engine.series(request).await.unwrap();
        let spent = told.series[0].dimensions.get(&tokens())?;
        assert!(spent.by_kind.keys().all(|kind| kind == "job"));
        let of_jobs = spent.by_kind.get("job").map_or(0, |used| used.iter().sum());
        Some((spent.used.iter().sum(), of_jobs))
    }

    #[tokio::test]
    async fn a_charge_without_a_lease_is_used_and_of_no_kind() {
        let engine = engine();
        let own = budget(&engine).await;
        assert_eq!(used(&engine, "default", own).await, None);
        charge(&engine, own, 3, Some("invoice-1")).await;
        assert_eq!(
            charge(&engine, own, 3, Some("invoice-1")).await,
            Reported::AlreadyApplied
        );
        assert_eq!(used(&engine, "default", own).await, Some((3, 0)));
        let task = task(&engine).await;
        report(&engine, &task, own, 4, "call-1").await;
        // Above the limit, and spent all the same.
        assert!(matches!(
            charge(&engine, own, 5, None).await,
            Reported::HardBreach { .. }
        ));
        assert_eq!(used(&engine, "default", own).await, Some((12, 4)));
        assert_eq!(used(&engine, "elsewhere", own).await, None, "it is not theirs");
        let view = engine.get_budget(own).await.unwrap();
        assert_eq!(
            view.dimensions[&tokens()].usage,
            12,
            "what is counted is what the budget says"
        );
    }

    #[tokio::test]
    async fn a_report_that_its_budget_knew_is_not_counted_again() {
        let engine = engine();
        let own = budget(&engine).await;
        let (first, second) = (task(&engine).await, task(&engine).await);
        report(&engine, &first, own, 4, "call-1").await;
        report(&engine, &second, own, 2, "call-2").await;
        assert_eq!(
            report(&engine, &second, own, 4, "call-1").await,
            Reported::AlreadyApplied
        );
        assert_eq!(used(&engine, "default", own).await, Some((6, 6)));
        let view = engine.get_budget(own).await.unwrap();
        assert_eq!(view.dimensions[&tokens()].usage, 6);
    }
}
