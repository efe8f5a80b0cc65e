//! What waits: the queues there are, what is found in them, and lanes with their depths.

use std::collections::BTreeMap;

use ff_core::command::operator::HoldExecution;
use ff_core::command::submit::CreateExecution;
use ff_core::id::{BudgetId, ExecutionId};
use ff_core::limits::BUDGET_SETS_MAX;
use ff_core::machine::claim::HandOut;
use ff_core::machine::index::Index;
use ff_core::machine::operator;
use ff_core::machine::placement::score;
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::{Family, Partition};
use ff_core::policy::Policy;
use ff_core::record::Execution;
use ff_core::state::PublicState;
use ff_core::time::Duration;

use super::build::Store;
use super::reserve_match::requiring;
use crate::query::{HeadsOf, LaneDepth, Listing, Page, Range};
use crate::reserve::Reserve;

/// The queues that need a budget are found by their heads, and what is in them by a range over all of them.
pub(super) async fn queued_work_is_found_under_its_budgets_best_first(store: &Store<'_>) {
    let [budget_id, other] = [(); 2].map(|()| BudgetId::from_uuid(store.uuid()));
    let partitions: Vec<Partition> = store.counts().all(Family::Flow).take(3).collect();
    let mut queued = Vec::new();
    for n in 0..24_u16 {
        let is_wanted = n % 3 != 0;
        let budgets = [other, budget_id].into_iter().take(1 + usize::from(is_wanted));
        let command = CreateExecution {
            priority: n % 5,
            policy: under(budgets),
            ..store.command()
        };
        let command = requiring(command, &[if n % 2 == 0 { "gpu" } else { "eu" }]);
        let id = store.id_in(partitions[usize::from(n / 2) % partitions.len()]);
        let execution = store.submit_as(id, command).await;
        queued.extend(is_wanted.then_some(execution));
    }
    let held = queued.remove(3).id;
    let holds = |execution: &_, context: &_| operator::hold(execution, &HoldExecution { reason: None }, context);
    store.apply(held, holds).await;
    let needs_budget =
        |index: &Index| matches!(index, Index::Queue(queue) if queue.signature.budgets.contains(&budget_id));
    let mut of: Vec<Index> = queues(store).await;
    of.retain(needs_budget);
    let range = Range {
        of,
        ..Range::of(Index::Age(None), partitions)
    };
    assert_eq!(store.listed_ids(range.into()).await, by_score(queued));
}

/// However many budget sets share a queue: all of them are found in the queues that there are.
pub(super) async fn whatever_waits_is_in_one_of_the_queues_there_are(store: &Store<'_>) {
    let command = |_| CreateExecution {
        policy: under([BudgetId::from_uuid(store.uuid())]),
        ..store.command()
    };
    let commands: Vec<_> = (0..BUDGET_SETS_MAX + 20).map(|n| (store.id(), command(n))).collect();
    let mut waiting: Vec<ExecutionId> = commands.iter().map(|(id, _)| *id).collect();
    store.submit_all(commands).await;
    let queues_open = queues(store).await;
    assert!(queues_open.len() <= BUDGET_SETS_MAX + 1, "the others share one");
    let mut found = Vec::new();
    for index in queues_open {
        found.extend(store.listed_ids(Range::of(index, vec![store.home()]).into()).await);
    }
    waiting.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, waiting);
    let everything = Reserve {
        mode: HandOut::Grant,
        ..store.ask(100)
    };
    store.reserve_all(&everything).await;
    assert_eq!(queues(store).await, [], "an empty queue is none");
}

pub(super) async fn lanes_are_listed_by_name_with_their_depths(store: &Store<'_>) {
    let namespace = Namespace::parse("mine").expect("a namespace");
    let partitions = store.counts().count(Family::Flow);
    let mut oldest = BTreeMap::new();
    for n in 0..12_u16 {
        let lane_id = LaneId::parse(["b", "a", "c"][usize::from(n % 3)]).expect("a lane");
        let command = CreateExecution {
            lane_id: lane_id.clone(),
            namespace: namespace.clone(),
            ..store.command()
        };
        let execution = store
            .submit_as(store.id_in(Partition::flow(n % partitions)), command)
            .await;
        oldest.entry(lane_id).or_insert(execution.definition.created_at);
        store.advance(Duration::from_millis(10)).await;
    }
    store.submit(store.command()).await;
    let lane_b = LaneId::parse("b").expect("a lane");
    let ask = Reserve {
        namespace: namespace.clone(),
        lanes: vec![lane_b.clone()],
        ..store.ask(4)
    };
    assert_eq!(store.reserve(ask).await.len(), 4);
    let rows = store.follow(&Listing::Lanes(namespace), 2, Page::lanes).await;
    let depth = |state, lane: &str| {
        let lane = LaneId::parse(lane).expect("a lane");
        let oldest_eligible = (lane != lane_b).then(|| oldest[&lane]);
        LaneDepth {
            lane,
            depth: BTreeMap::from([(state, 4)]),
            oldest_eligible,
        }
    };
    let wanted = [
        depth(PublicState::Waiting, "a"),
        depth(PublicState::Active, "b"),
        depth(PublicState::Waiting, "c"),
    ];
    assert_eq!(rows.into_iter().map(without_zeros).collect::<Vec<_>>(), wanted);
}

fn without_zeros(mut row: LaneDepth) -> LaneDepth {
    row.depth.retain(|_, count| *count > 0);
    row
}

/// The queues there are, each once.
async fn queues(store: &Store<'_>) -> Vec<Index> {
    let heads = store.follow(&store.heads(HeadsOf::Queues), 100, Page::heads).await;
    let mut queues: Vec<Index> = heads.into_iter().map(|head| head.index).collect();
    queues.sort_unstable();
    queues.dedup();
    queues
}

/// Work that counts against these budgets.
pub(super) fn under(budget_ids: impl IntoIterator<Item = BudgetId>) -> Policy {
    Policy {
        budget_ids: budget_ids.into_iter().collect(),
        ..Policy::default()
    }
}

/// Their ids, best score first.
pub(super) fn by_score(mut executions: Vec<Execution>) -> Vec<ExecutionId> {
    executions.sort_by_key(score);
    executions.into_iter().map(|execution| execution.id).collect()
}
