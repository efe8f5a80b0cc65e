//! Listings of indexes over many partitions at once, as maintenance asks for them.

use std::collections::BTreeSet;

use ff_core::command::submit::CreateExecution;
use ff_core::id::{BudgetId, ExecutionId};
use ff_core::machine::claim;
use ff_core::machine::placement::{queue_key, score};
use ff_core::name::LaneId;
use ff_core::partition::{Family, Partition};
use ff_core::policy::Policy;
use ff_core::record::{Cause, Execution};
use ff_core::time::Duration;

use super::build::Store;
use super::queues::{block, by_score, granted};
use crate::query::{Listing, Page, QueueHead};

pub(super) async fn blocked_work_of_many_partitions_is_listed_best_first(store: &Store<'_>) {
    let (asked, everywhere) = places(store);
    let cause = a_cause(store);
    let mut blocked = Vec::new();
    for n in 0..24_u16 {
        let execution = submit(store, &everywhere, n, Policy::default()).await;
        block(store, execution.id, cause).await;
        blocked.push(execution);
    }
    blocked.retain(|execution| asked.contains(&execution.id.partition()));
    let wanted = by_score(blocked);
    for limit in [1, 7, 1_000] {
        let partitions = in_any_order(&asked);
        let listing = Listing::Blocked { partitions, cause };
        assert_eq!(paged(store, listing, limit).await, wanted);
    }
}

/// An id is a uuid and a partition: of one moment, one priority and one uuid the partition decides.
pub(super) async fn namesakes_of_other_partitions_are_told_apart(store: &Store<'_>) {
    let (asked, everywhere) = places(store);
    let (budget_id, uuid) = (BudgetId::from_uuid(store.uuid()), store.uuid());
    let cause = Cause::Budget(budget_id);
    let command = CreateExecution {
        policy: under(budget_id),
        ..store.command()
    };
    let namesake = |partition: &Partition| (ExecutionId::new(partition.index, uuid), command.clone());
    store.submit_all(everywhere.iter().map(namesake).collect()).await;
    let wanted: Vec<ExecutionId> = asked.iter().map(|partition| namesake(partition).0).collect();
    let partitions = in_any_order(&asked);
    let listing = Listing::QueuedUnder { partitions, budget_id };
    assert_eq!(paged(store, listing, 1).await, wanted);
    for partition in &everywhere {
        block(store, namesake(partition).0, cause).await;
    }
    let partitions = in_any_order(&asked);
    let listing = Listing::Blocked { partitions, cause };
    assert_eq!(paged(store, listing, 1).await, wanted);
}

pub(super) async fn eligible_work_of_many_partitions_is_listed_best_first(store: &Store<'_>) {
    let (asked, everywhere) = places(store);
    let budget_id = BudgetId::from_uuid(store.uuid());
    let mut queued = Vec::new();
    for n in 0..24_u16 {
        let policy = under(if n % 5 == 0 {
            BudgetId::from_uuid(store.uuid())
        } else {
            budget_id
        });
        let execution = submit(store, &everywhere, n, policy).await;
        if n % 5 != 0 && asked.contains(&execution.id.partition()) {
            queued.push(execution);
        }
    }
    let wanted = by_score(queued);
    for limit in [1, 7, 1_000] {
        let partitions = in_any_order(&asked);
        let listing = Listing::QueuedUnder { partitions, budget_id };
        assert_eq!(paged(store, listing, limit).await, wanted);
    }
}

pub(super) async fn leased_work_of_many_partitions_is_listed_by_id(store: &Store<'_>) {
    let (asked, everywhere) = places(store);
    let budget_id = BudgetId::from_uuid(store.uuid());
    let mut leased = BTreeSet::new();
    for n in 0..15_u16 {
        let id = submit(store, &everywhere, n, under(budget_id)).await.id;
        let claimant = granted(store).await;
        store
            .apply(id, |execution, context| claim::lease(execution, &claimant, context))
            .await;
        if asked.contains(&id.partition()) {
            leased.insert(id);
        }
    }
    let wanted: Vec<ExecutionId> = leased.into_iter().collect();
    for limit in [1, 4, 1_000] {
        let partitions = in_any_order(&asked);
        let listing = Listing::LeasedUnder { partitions, budget_id };
        assert_eq!(paged(store, listing, limit).await, wanted);
    }
}

pub(super) async fn causes_and_queues_are_listed_partition_by_partition(store: &Store<'_>) {
    let (asked, everywhere) = places(store);
    let causes = [a_cause(store), a_cause(store), a_cause(store)];
    let (mut held, mut queues) = (BTreeSet::new(), Vec::new());
    for (n, cause) in (0..15_u16).zip(causes.iter().cycle()) {
        let blocked = submit(store, &everywhere, n, Policy::default()).await.id;
        block(store, blocked, *cause).await;
        held.insert((blocked.partition(), *cause));
        queues.push(waiting_in_a_lane(store, everywhere[usize::from(n) % everywhere.len()]).await);
    }
    held.retain(|(partition, _)| asked.contains(partition));
    queues.retain(|head| asked.contains(&head.partition));
    queues.sort_by(|left, right| (left.partition, &left.queue).cmp(&(right.partition, &right.queue)));
    for limit in [1, 4, 1_000] {
        let listing = Listing::BlockedCauses(in_any_order(&asked));
        let causes = store.follow(&listing, limit, Page::causes).await;
        assert_eq!(causes, held.iter().copied().collect::<Vec<_>>());
        let listing = Listing::Queues(in_any_order(&asked));
        assert_eq!(store.follow(&listing, limit, Page::queues).await, queues);
    }
}

pub(super) async fn all_partitions_are_swept_in_one_listing(store: &Store<'_>) {
    let all: Vec<Partition> = store.counts().all(Family::Flow).collect();
    let budget_id = BudgetId::from_uuid(store.uuid());
    let cause = Cause::Budget(budget_id);
    let mut blocked = Vec::new();
    for partition in all.iter().step_by(all.len().div_ceil(16)) {
        let execution = store.submit_as(store.id_in(*partition), store.command()).await;
        block(store, execution.id, cause).await;
        blocked.push(execution);
    }
    let causes = store
        .follow(&Listing::BlockedCauses(all.clone()), 1_000, Page::causes)
        .await;
    let places = blocked.iter().map(|execution| (execution.id.partition(), cause));
    assert_eq!(causes, places.collect::<Vec<_>>());
    let partitions = all.clone();
    let listing = Listing::Blocked { partitions, cause };
    assert_eq!(paged(store, listing, 1_000).await, by_score(blocked));
    for listing in [
        Listing::QueuedUnder {
            partitions: all.clone(),
            budget_id,
        },
        Listing::LeasedUnder {
            partitions: all,
            budget_id,
        },
        Listing::Blocked {
            partitions: Vec::new(),
            cause,
        },
    ] {
        assert_eq!(paged(store, listing, 1_000).await, []);
    }
}

pub(super) async fn rows_that_stay_are_seen_once_while_work_comes_and_goes(store: &Store<'_>) {
    let (asked, _) = places(store);
    let cause = a_cause(store);
    let mut blocked = Vec::new();
    for n in 0..24_u16 {
        let execution = submit(store, &asked, n, Policy::default()).await;
        block(store, execution.id, cause).await;
        blocked.push(execution.id);
    }
    let mut going = blocked.split_off(12);
    let (mut seen, mut after) = (Vec::new(), None);
    for n in 24.. {
        let partitions = in_any_order(&asked);
        let page = store.page(Listing::Blocked { partitions, cause }, after, 3).await;
        after = page.next.clone();
        seen.extend(page.executions().into_iter().map(|(execution, _)| execution.id));
        if after.is_none() {
            break;
        }
        let coming = submit(store, &asked, n, Policy::default()).await.id;
        block(store, coming, cause).await;
        if let Some(id) = going.pop() {
            store
                .apply(id, |execution, context| claim::unblock(execution, cause, context))
                .await;
        }
        assert!(n < 1_000, "the listing has an end");
    }
    seen.retain(|id| blocked.contains(id));
    seen.sort_unstable();
    blocked.sort_unstable();
    assert_eq!(seen, blocked);
}

/// Some partitions, and those around them where others have work too.
fn places(store: &Store<'_>) -> (Vec<Partition>, Vec<Partition>) {
    let everywhere: Vec<Partition> = store.counts().all(Family::Flow).take(5).collect();
    let asked = everywhere.iter().copied().step_by(2).collect();
    (asked, everywhere)
}

/// The order of the question, and naming a partition twice, mean nothing.
fn in_any_order(partitions: &[Partition]) -> Vec<Partition> {
    partitions.iter().rev().chain(partitions.last()).copied().collect()
}

/// Submits the `n`th execution into one of the partitions, a little later than the one before.
async fn submit(store: &Store<'_>, partitions: &[Partition], n: u16, policy: Policy) -> Execution {
    let command = CreateExecution {
        priority: [3, 0, 9, 3][usize::from(n) % 4],
        policy,
        ..store.command()
    };
    let partition = partitions[usize::from(n) * 3 % partitions.len()];
    store.advance(Duration::from_millis(u64::from(n % 3))).await;
    store.submit_as(store.id_in(partition), command).await
}

/// A queue with one execution, of a lane of its own.
async fn waiting_in_a_lane(store: &Store<'_>, partition: Partition) -> QueueHead {
    let lane_id = LaneId::parse(format!("lane-{}", store.serial())).expect("a lane");
    let command = CreateExecution {
        lane_id,
        ..store.command()
    };
    let execution = store.submit_as(store.id_in(partition), command).await;
    QueueHead {
        partition,
        queue: queue_key(&execution),
        head: score(&execution),
        length: 1,
    }
}

fn under(budget_id: BudgetId) -> Policy {
    Policy {
        budget_ids: [budget_id].into(),
        ..Policy::default()
    }
}

fn a_cause(store: &Store<'_>) -> Cause {
    Cause::Budget(BudgetId::from_uuid(store.uuid()))
}

async fn paged(store: &Store<'_>, of: Listing, limit: usize) -> Vec<ExecutionId> {
    let rows = store.follow(&of, limit, Page::executions).await;
    rows.into_iter().map(|(execution, _)| execution.id).collect()
}
