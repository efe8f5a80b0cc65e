//! What is read of a namespace for its overview.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use ff_backend::query::{HeadsOf, LaneDepth, Listing, Page};
use ff_core::command::budget::BudgetState;
use ff_core::command::submit::LaneState;
use ff_core::fabric::Result;
use ff_core::machine::approval::approval;
use ff_core::machine::index::Index;
use ff_core::machine::placement::QueueKey;
use ff_core::name::{LaneId, Namespace};
use ff_core::record::{Cause, Record, Worker};
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use ff_core::view::{ClosedBudget, HeldBack, HeldBackKind, HowMany, WaitingForPeople};
use futures::future::{join_all, try_join};

use super::judge;
use crate::directory::{lanes, workers};
use crate::engine::Engine;
use crate::ops::{budgets, quotas, reads};

/// What waits for a person, or is held, is counted up to this.
const COUNTED_MAX: usize = 100;
/// Budgets and quotas that are named, and how many are asked for at most whose namespace is not known.
const ACCOUNTS_MAX: usize = 50;
const ACCOUNTS_ASKED_MAX: usize = 200;

/// What was read of a namespace.
pub(super) struct Facts {
    pub(super) as_of: Timestamp,
    /// As of how many changes the states of lanes are known.
    lanes_set: u64,
    lane_states: Arc<BTreeMap<LaneId, LaneState>>,
    pub(super) depths: Vec<LaneDepth>,
    pub(super) states: BTreeMap<PublicState, u64>,
    /// Those that are no longer live among them.
    pub(super) workers: Arc<[Worker]>,
    /// What nobody takes although its lane hands it out.
    pub(super) unfit: HowMany,
    pub(super) held: HowMany,
    pub(super) approvals: WaitingForPeople,
    pub(super) accounts: Vec<HeldBack>,
    pub(super) closed_budgets: Vec<ClosedBudget>,
}

impl Facts {
    pub(super) fn lane(&self, lane: &LaneId) -> LaneState {
        self.lane_states.get(lane).copied().unwrap_or_default()
    }

    /// Whether anything waits for a worker.
    pub(super) fn has_waiting(&self) -> bool {
        let of_state = |state| self.states.get(&state).copied().unwrap_or_default();
        of_state(PublicState::Waiting) + of_state(PublicState::Resumable) > 0
    }

    /// When the same facts say something else for the first time because of the time alone.
    pub(super) fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        let ends = self.workers.iter().map(|worker| worker.seen_at + worker.ttl);
        let old = self.approvals.oldest_at.map(judge::old_at);
        ends.chain(old).filter(|at| !at.has_come(now)).min()
    }

    /// The same with workers as they are now.
    pub(super) async fn with_workers(&mut self, engine: &Engine, namespace: &Namespace) -> Result<()> {
        self.workers = workers::all(engine, namespace).await?;
        Ok(())
    }
}

/// Reads how a namespace fares. What is `known` of its lanes is read again only when one was set since.
pub(super) async fn look(
    engine: &Engine,
    namespace: &Namespace,
    known: Option<&Facts>,
    lanes_set: u64,
) -> Result<Facts> {
    let lane_states = match known.filter(|known| known.lanes_set == lanes_set) {
        Some(known) => Arc::clone(&known.lane_states),
        None => {
            let all = lanes::all(engine, namespace).await?.into_iter();
            Arc::new(all.map(|lane| (lane.lane, lane.state)).collect())
        }
    };
    let of = Listing::Lanes(namespace.clone());
    let (depths, workers) = try_join(
        engine.store().list_all(of, Page::lanes),
        workers::all(engine, namespace),
    )
    .await?;
    let as_of = engine.store_time().await?;
    engine.shared.minutes.saw(namespace, &depths, as_of);
    let mut facts = Facts {
        as_of,
        lanes_set,
        lane_states,
        states: sum(&depths),
        depths,
        workers,
        unfit: HowMany::default(),
        held: HowMany::default(),
        approvals: WaitingForPeople::default(),
        accounts: Vec::new(),
        closed_budgets: Vec::new(),
    };
    let has = |state| facts.states.contains_key(&state);
    let may_be_held = |state: &PublicState| !state.is_terminal() && *state != PublicState::Active;
    if facts.states.keys().any(may_be_held) {
        facts.held = held(engine, namespace).await?;
    }
    if has(PublicState::Suspended) {
        facts.approvals = waiting_for_people(engine, namespace).await?;
    }
    if has(PublicState::RateLimited) {
        (facts.accounts, facts.closed_budgets) = accounts(engine, namespace).await?;
    }
    if facts.has_waiting() {
        facts.unfit = unfit(engine, namespace, &facts).await?;
    }
    Ok(facts)
}

fn sum(depths: &[LaneDepth]) -> BTreeMap<PublicState, u64> {
    let mut all = BTreeMap::new();
    for (state, count) in depths.iter().flat_map(|lane| &lane.depth) {
        if *count > 0 {
            *all.entry(*state).or_default() += count;
        }
    }
    all
}

/// Work that is held back by one thing, if any is.
pub(super) fn held_back(cause: HeldBackKind, count: HowMany) -> Option<HeldBack> {
    (count.n > 0).then_some(HeldBack {
        cause,
        id: None,
        name: None,
        count,
        opens_at: None,
    })
}

/// What waits in queues that nobody takes from although their lanes hand it out. Counted only if there is such a queue.
async fn unfit(engine: &Engine, namespace: &Namespace, facts: &Facts) -> Result<HowMany> {
    let is_unfit = |queue: &QueueKey| {
        queue.namespace == *namespace
            && facts.lane(&queue.lane).hands_out()
            && !reads::is_taken(queue, &facts.workers, facts.as_of)
    };
    let mut unfit = HowMany::default();
    if engine.queues(is_unfit).await?.is_empty() {
        return Ok(unfit);
    }
    let counted = engine.counted_each();
    let everywhere = engine.flow_partitions();
    for head in engine.heads((HeadsOf::Queues, everywhere), counted).await? {
        if matches!(&head.index, Index::Queue(queue) if is_unfit(queue)) {
            unfit.add(head.length, counted);
        }
    }
    Ok(unfit)
}

async fn held(engine: &Engine, namespace: &Namespace) -> Result<HowMany> {
    let range = engine.range(Index::Held(namespace.clone()));
    let page = engine.store().list(range, None, COUNTED_MAX).await?;
    let at_least = page.next.is_some();
    let n = page.records().len() as u64;
    Ok(HowMany { n, at_least })
}

async fn waiting_for_people(engine: &Engine, namespace: &Namespace) -> Result<WaitingForPeople> {
    let range = engine.range(Index::Person(Some(namespace.clone())));
    let page = engine.store().list(range, None, COUNTED_MAX).await?;
    let at_least = page.next.is_some();
    let waiting = page.records().into_iter().filter_map(|(record, _)| match record {
        Record::Execution(execution) => approval(&execution),
        _ => None,
    });
    let mut people = WaitingForPeople::default();
    for one in waiting {
        people.count.n += 1;
        people.escalated += u64::from(one.escalated);
        people.oldest_at = [people.oldest_at, Some(one.since)].into_iter().flatten().min();
    }
    people.count.at_least = at_least;
    Ok(people)
}

/// A budget or quota policy of the namespace that holds work back.
struct Account {
    held: Option<HeldBack>,
    closed: Option<ClosedBudget>,
}

/// Budgets and quotas of the namespace that hold most work back, and those of them that admit nothing at all.
async fn accounts(engine: &Engine, namespace: &Namespace) -> Result<(Vec<HeldBack>, Vec<ClosedBudget>)> {
    let owners = &engine.shared.overviews.owners;
    let mut lengths: Vec<(Cause, HowMany)> = engine.lengths_blocked().await?.into_iter().collect();
    lengths.retain(|(cause, _)| owners.of(*cause).is_none_or(|owner| owner == *namespace));
    lengths.sort_by_key(|(_, count)| Reverse(count.n));
    lengths.truncate(ACCOUNTS_ASKED_MAX);
    let (mut causes, mut closed) = (Vec::new(), Vec::new());
    for some in lengths.chunks(ACCOUNTS_MAX) {
        let found = some
            .iter()
            .map(|(cause, count)| account(engine, namespace, *cause, *count));
        for found in join_all(found).await {
            let found = found?;
            causes.extend(found.held);
            closed.extend(found.closed);
        }
        if causes.len() >= ACCOUNTS_MAX {
            causes.truncate(ACCOUNTS_MAX);
            break;
        }
    }
    Ok((causes, closed))
}

async fn account(engine: &Engine, namespace: &Namespace, cause: Cause, count: HowMany) -> Result<Account> {
    let owners = &engine.shared.overviews.owners;
    let mut account = Account {
        held: None,
        closed: None,
    };
    match cause {
        Cause::Budget(id) => {
            let Some(budget) = budgets::find(engine, id).await? else {
                return Ok(account);
            };
            owners.learn(cause, &budget.namespace);
            if budget.namespace != *namespace {
                return Ok(account);
            }
            let opens_at = budget.next_reset_at;
            account.held = held_back(HeldBackKind::Budget, count).map(|held| HeldBack {
                id: Some(id.to_string()),
                name: Some(budget.scope.clone()),
                opens_at,
                ..held
            });
            let is_closed = matches!(budget.state, BudgetState::Closed(_));
            account.closed = is_closed.then_some(ClosedBudget {
                budget_id: id,
                name: budget.scope,
                waiting: count,
                since: budget.closed_since,
                opens_at,
            });
        }
        Cause::Quota(id) => {
            let Some(quota) = quotas::find(engine, id).await? else {
                return Ok(account);
            };
            owners.learn(cause, &quota.namespace);
            if quota.namespace == *namespace {
                let id = Some(id.to_string());
                account.held = held_back(HeldBackKind::Quota, count).map(|held| HeldBack { id, ..held });
            }
        }
    }
    Ok(account)
}
