//! What stands in the store, as a scrape shows it. It is read for whoever asks first and shown to everybody for a while: however
//! often, and by however many, a server is scraped, this takes at most a twentieth of the time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use ff_backend::limits;
use ff_backend::query::{LaneDepth, Listing, Page};
use ff_core::command::budget::{BudgetState, BudgetView};
use ff_core::fabric::Result;
use ff_core::limits::PAGE_MAX;
use ff_core::name::Namespace;
use ff_core::record::Cause;
use ff_core::time::Timestamp;
use ff_core::view::{ListProblems, ProblemKind};
use tokio::sync::Mutex;

use crate::directory::lanes;
use crate::engine::Engine;
use crate::fault::refused;
use crate::ops::{budgets, quotas, reads};
use ff_core::caller::Caller;

/// The shortest time between two readings.
const READ_EVERY: Duration = Duration::from_secs(5);
/// How many times as long as a reading took nothing is read after it.
const REST: u32 = 20;
/// Namespaces that are looked into.
const NAMESPACES_MAX: usize = 1_000;
/// Budgets of a namespace, and causes of blocked work, that are looked at.
const LIMITS_MAX: usize = PAGE_MAX;

/// What stands in the store.
pub(super) struct Survey {
    pub(super) now: Timestamp,
    pub(super) lanes: Vec<(Namespace, LaneDepth)>,
    /// By namespace, then budget or quota.
    pub(super) blocking: BTreeMap<(Namespace, &'static str), u64>,
    /// By namespace, then soft or hard.
    pub(super) over_limit: BTreeMap<(Namespace, &'static str), u64>,
    /// By namespace, where it is known, and kind.
    pub(super) problems: BTreeMap<(Option<Namespace>, ProblemKind), u64>,
}

/// The last reading.
#[derive(Default)]
pub(super) struct Surveys {
    last: Mutex<Option<Reading>>,
}

/// A reading, and what it came to.
#[derive(Clone)]
pub(super) struct Reading {
    at: Duration,
    pub(super) took: Duration,
    /// `None`: the store could not be read.
    pub(super) found: Option<Arc<Survey>>,
}

impl Reading {
    fn is_fresh(&self, now: Duration) -> bool {
        now.saturating_sub(self.at) < READ_EVERY.max(self.took * REST)
    }
}

/// The last reading, or a new one if it is time for it. Who comes meanwhile waits for it rather than reading too.
pub(super) async fn survey(engine: &Engine) -> Reading {
    let mut last = engine.shared.metrics.surveys.last.lock().await;
    let began = engine.host().elapsed();
    if let Some(reading) = last.as_ref().filter(|reading| reading.is_fresh(began)) {
        return reading.clone();
    }
    let everything = engine.acting_as(Caller::engine());
    let found = read(&everything).await;
    let found = found
        .inspect_err(|refusal| tracing::warn!(%refusal, "what stands in the store could not be read for the metrics"));
    let at = engine.host().elapsed();
    let reading = Reading {
        at,
        took: at.saturating_sub(began),
        found: found.ok().map(Arc::new),
    };
    *last = Some(reading.clone());
    reading
}

async fn read(engine: &Engine) -> Result<Survey> {
    let mut survey = Survey {
        now: engine.store().ping().await?,
        lanes: Vec::new(),
        blocking: blocking(engine).await?,
        over_limit: BTreeMap::new(),
        problems: problems(engine).await?,
    };
    for namespace in lanes::namespaces(engine, NAMESPACES_MAX).await? {
        let of = Listing::Lanes(namespace.clone());
        let lanes = engine.store().list_all(of, Page::lanes).await?;
        survey
            .lanes
            .extend(lanes.into_iter().map(|lane| (namespace.clone(), lane)));
        for budget in budgets_of(engine, &namespace).await? {
            if let Some(limit) = passed(&budget) {
                *survey.over_limit.entry((namespace.clone(), limit)).or_default() += 1;
            }
        }
    }
    Ok(survey)
}

/// Budgets and quotas with work that waits for them. A cause of nothing that can be found has no namespace, and is a problem.
async fn blocking(engine: &Engine) -> Result<BTreeMap<(Namespace, &'static str), u64>> {
    let held = engine.blocking_causes(engine.flow_partitions()).await?.into_iter();
    let causes: BTreeSet<Cause> = held.map(|(_, cause)| cause).take(LIMITS_MAX).collect();
    let mut blocking = BTreeMap::new();
    for cause in causes {
        let (namespace, kind) = match cause {
            Cause::Budget(id) => (
                budgets::find(engine, id).await?.map(|budget| budget.namespace),
                "budget",
            ),
            Cause::Quota(id) => (quotas::find(engine, id).await?.map(|quota| quota.namespace), "quota"),
        };
        if let Some(namespace) = namespace {
            *blocking.entry((namespace, kind)).or_default() += 1;
        }
    }
    Ok(blocking)
}

async fn problems(engine: &Engine) -> Result<BTreeMap<(Option<Namespace>, ProblemKind), u64>> {
    let mut problems = BTreeMap::new();
    for problem in reads::list_problems(engine, ListProblems::default()).await? {
        *problems.entry((problem.namespace, problem.kind)).or_default() += 1;
    }
    Ok(problems)
}

async fn budgets_of(engine: &Engine, namespace: &Namespace) -> Result<Vec<BudgetView>> {
    let page = limits::budgets::list(engine.store(), namespace.clone(), None, LIMITS_MAX).await;
    Ok(page.map_err(refused)?.0)
}

/// The worst kind of limit that a budget has passed.
fn passed(budget: &BudgetView) -> Option<&'static str> {
    if matches!(budget.state, BudgetState::Closed(_)) {
        return Some("hard");
    }
    let is_above = |usage, limit: Option<u64>| limit.is_some_and(|limit| usage > limit);
    let soft = budget
        .dimensions
        .values()
        .any(|dimension| is_above(dimension.usage, dimension.limits.soft));
    soft.then_some("soft")
}
