//! Lists over many partitions at once, as maintenance asks for them.

use ff_core::command::submit::CreateExecution;
use ff_core::id::{BudgetId, ExecutionId};
use ff_core::machine::claim::{self, Refusal, block_queued};
use ff_core::machine::index::Index;
use ff_core::machine::placement::queue_key;
use ff_core::partition::{Family, Partition};
use ff_core::record::{Cause, Execution};
use ff_core::time::Duration;

use super::build::Store;
use super::queues::{by_score, under};
use crate::query::{HeadsOf, Page, Range};

/// An id is a uuid and a partition: of one moment, one priority and one uuid the partition decides.
pub(super) async fn namesakes_of_other_partitions_are_told_apart(store: &Store<'_>) {
    let partitions: Vec<Partition> = store.counts().all(Family::Flow).take(5).collect();
    let (budget_id, uuid) = (BudgetId::from_uuid(store.uuid()), store.uuid());
    let cause = Cause::Budget(budget_id);
    let command = CreateExecution {
        policy: under([budget_id]),
        ..store.command()
    };
    let namesakes: Vec<ExecutionId> = partitions
        .iter()
        .map(|partition| ExecutionId::new(partition.index, uuid))
        .collect();
    let submitted = namesakes.iter().map(|id| (*id, command.clone()));
    store.submit_all(submitted.collect()).await;
    let queue = queue_key(&store.execution(namesakes[0]).await);
    assert_eq!(one_by_one(store, Index::Queue(queue)).await, namesakes);
    let mut newest = one_by_one(store, Index::Age(None)).await;
    newest.reverse();
    assert_eq!(newest, namesakes);
    for id in &namesakes {
        block(store, *id, cause).await;
    }
    assert_eq!(one_by_one(store, Index::Blocked(cause)).await, namesakes);
}

async fn one_by_one(store: &Store<'_>, index: Index) -> Vec<ExecutionId> {
    let rows = store.follow(&store.range(index), 1, Page::executions).await;
    rows.into_iter().map(|(execution, _)| execution.id).collect()
}

pub(super) async fn all_partitions_are_swept_in_one_listing(store: &Store<'_>) {
    let all = store.partitions();
    let cause = Cause::Budget(BudgetId::from_uuid(store.uuid()));
    let mut blocked = Vec::new();
    for partition in all.iter().step_by(all.len().div_ceil(16)) {
        let execution = store.submit_as(store.id_in(*partition), store.command()).await;
        block(store, execution.id, cause).await;
        blocked.push(execution);
    }
    let heads = store.follow(&store.heads(HeadsOf::Blocked), 1_000, Page::heads).await;
    let places = heads.into_iter().map(|head| (head.partition, head.index));
    let wanted = blocked.iter().map(|one| (one.id.partition(), Index::Blocked(cause)));
    assert_eq!(places.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
    let everywhere = store.range(Index::Blocked(cause));
    assert_eq!(store.listed_ids(everywhere).await, by_score(blocked));
    let nowhere = Range::of(Index::Blocked(cause), Vec::new());
    assert_eq!(store.listed_ids(nowhere.into()).await, []);
}

pub(super) async fn rows_that_stay_are_seen_once_while_work_comes_and_goes(store: &Store<'_>) {
    let cause = Cause::Budget(BudgetId::from_uuid(store.uuid()));
    let mut blocked = Vec::new();
    for n in 0..24 {
        blocked.push(submit_blocked(store, n, cause).await);
    }
    let going = blocked.split_off(12);
    let mut going = going.iter().map(|execution| execution.id);
    let (mut seen, mut after) = (Vec::new(), None);
    for n in 24.. {
        let page = store.page(store.range(Index::Blocked(cause)), after, 3).await;
        after = page.next.clone();
        seen.extend(page.executions().into_iter().map(|(execution, _)| execution.id));
        if after.is_none() {
            break;
        }
        submit_blocked(store, n, cause).await;
        if let Some(id) = going.next_back() {
            let unblocks = |execution: &_, context: &_| claim::unblock(execution, cause, context);
            store.apply(id, unblocks).await;
        }
        assert!(n < 1_000, "the listing has an end");
    }
    let stayed = by_score(blocked);
    seen.retain(|id| stayed.contains(id));
    assert_eq!(seen, stayed);
}

/// Submits the `n`th execution into one of three partitions, a little later than the one before, and blocks it.
async fn submit_blocked(store: &Store<'_>, n: u16, cause: Cause) -> Execution {
    let command = CreateExecution {
        priority: [3, 0, 9, 3][usize::from(n) % 4],
        ..store.command()
    };
    let partitions: Vec<Partition> = store.counts().all(Family::Flow).take(3).collect();
    store.advance(Duration::from_millis(u64::from(n % 3))).await;
    let id = store.id_in(partitions[usize::from(n) % partitions.len()]);
    let execution = store.submit_as(id, command).await;
    block(store, id, cause).await;
    execution
}

/// Admission refuses an execution that waits.
async fn block(store: &Store<'_>, id: ExecutionId, cause: Cause) {
    let refusal = Refusal {
        cause,
        detail: "closed".to_owned(),
        generation: 1,
    };
    let blocks = |execution: &_, context: &_| block_queued(execution, &refusal, context);
    store.apply(id, blocks).await;
}
