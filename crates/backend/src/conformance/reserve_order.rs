//! Who comes first: priority, then age, then id; and lanes in the order they are named.

use ff_core::command::lease::Release;
use ff_core::command::operator::ChangePriority;
use ff_core::command::submit::CreateExecution;
use ff_core::id::ExecutionId;
use ff_core::machine::placement::score;
use ff_core::machine::{lease, operator};
use ff_core::name::LaneId;
use ff_core::partition::{Family, Partition};
use ff_core::record::Execution;
use ff_core::time::Duration;

use super::build::{Random, Store, fence, ids};
use super::reserve_match::{capabilities, requiring};
use crate::reserve::Reserve;

pub(super) async fn a_higher_priority_comes_first(store: &Store<'_>) {
    let mut submitted = Vec::new();
    for priority in [3, 9_000, 0, 7, 4_500] {
        submitted.push(
            store
                .submit(CreateExecution {
                    priority,
                    ..store.command()
                })
                .await,
        );
    }
    assert_eq!(ids(&store.reserve(store.ask(5)).await), by_score(submitted));
}

pub(super) async fn the_older_comes_first_among_equals(store: &Store<'_>) {
    let mut submitted = Vec::new();
    for _ in 0..5 {
        submitted.push(store.submit(store.command()).await.id);
        store.advance(Duration::from_millis(10)).await;
    }
    assert_eq!(ids(&store.reserve(store.ask(5)).await), submitted);
}

pub(super) async fn the_id_decides_among_executions_of_one_moment(store: &Store<'_>) {
    let commands: Vec<_> = (0..20).map(|_| (store.id(), store.command())).collect();
    let mut wanted: Vec<ExecutionId> = commands.iter().map(|(id, _)| *id).collect();
    wanted.sort_unstable();
    store.submit_all(commands).await;
    assert_eq!(ids(&store.reserve(store.ask(20)).await), wanted);
}

pub(super) async fn the_order_holds_across_the_queues_of_a_partition(store: &Store<'_>) {
    let mut random = Random::new(1);
    let mut submitted = Vec::new();
    for n in 0..40 {
        let required: &[&str] = [&[][..], &["gpu"], &["eu"], &["eu", "gpu"]][n % 4];
        let priority = u16::try_from(random.below(5)).unwrap_or(0);
        let command = CreateExecution {
            priority,
            ..requiring(store.command(), required)
        };
        submitted.push(store.submit(command).await);
        store.advance(Duration::from_millis(random.below(3))).await;
    }
    let ask = Reserve {
        capabilities: capabilities(&["eu", "gpu"]),
        ..store.ask(7)
    };
    assert_eq!(store.reserve_all(&ask).await, by_score(submitted));
}

pub(super) async fn the_order_holds_across_partitions(store: &Store<'_>) {
    let mut random = Random::new(2);
    let mut submitted = Vec::new();
    let partitions = store.counts().count(Family::Flow).min(8);
    for n in 0..40 {
        let priority = u16::try_from(random.below(5)).unwrap_or(0);
        let id = store.id_in(Partition::flow(n % partitions));
        submitted.push(
            store
                .submit_as(
                    id,
                    CreateExecution {
                        priority,
                        ..store.command()
                    },
                )
                .await,
        );
        store.advance(Duration::from_millis(5)).await;
    }
    let taken = store.reserve_all(&store.ask(7)).await;
    if store.harness().orders_across_partitions() {
        return assert_eq!(taken, by_score(submitted));
    }
    for index in 0..partitions {
        let here = |id: &ExecutionId| id.partition() == Partition::flow(index);
        let wanted = submitted
            .iter()
            .filter(|execution| here(&execution.id))
            .cloned()
            .collect();
        assert_eq!(taken.iter().copied().filter(here).collect::<Vec<_>>(), by_score(wanted));
    }
}

pub(super) async fn lanes_are_tried_in_the_order_they_are_named(store: &Store<'_>) {
    let [first, second] = ["first", "second"].map(|lane| LaneId::parse(lane).expect("a lane"));
    let mut low = Vec::new();
    let mut high = Vec::new();
    for _ in 0..3 {
        high.push(
            store
                .submit(CreateExecution {
                    priority: 9,
                    lane_id: second.clone(),
                    ..store.command()
                })
                .await
                .id,
        );
        low.push(
            store
                .submit(CreateExecution {
                    priority: 1,
                    lane_id: first.clone(),
                    ..store.command()
                })
                .await
                .id,
        );
        store.advance(Duration::from_millis(10)).await;
    }
    let wanted: Vec<ExecutionId> = low.into_iter().chain(high).collect();
    let ask = Reserve {
        lanes: vec![first, second],
        ..store.ask(4)
    };
    assert_eq!(store.reserve_all(&ask).await, wanted);
}

pub(super) async fn a_changed_priority_moves_an_execution_in_its_queue(store: &Store<'_>) {
    let first = store
        .submit(CreateExecution {
            priority: 5,
            ..store.command()
        })
        .await
        .id;
    let second = store
        .submit(CreateExecution {
            priority: 4,
            ..store.command()
        })
        .await
        .id;
    let raise = ChangePriority { priority: 6 };
    store
        .apply(second, |execution, context| {
            operator::change_priority(execution, &raise, context)
        })
        .await;
    assert_eq!(ids(&store.reserve(store.ask(2)).await), [second, first]);
}

pub(super) async fn a_released_execution_goes_back_to_its_old_place(store: &Store<'_>) {
    let first = store.submit(store.command()).await.id;
    let task = store.take().await;
    store.advance(Duration::from_secs(1)).await;
    let second = store.submit(store.command()).await.id;
    let release = Release {
        fence: Some(fence(&task)),
        ..Release::default()
    };
    store
        .apply(first, |execution, context| lease::release(execution, &release, context))
        .await;
    assert_eq!(ids(&store.reserve(store.ask(2)).await), [first, second]);
}

pub(super) async fn claimants_are_used_in_order_and_no_more_than_there_are(store: &Store<'_>) {
    for _ in 0..5 {
        store.submit(store.command()).await;
    }
    assert!(store.reserve(store.ask(0)).await.is_empty());
    let ask = store.ask(3);
    let wanted = ask.claimants.clone();
    let tasks = store.reserve(ask).await;
    assert_eq!(
        tasks.iter().map(|task| task.claimant.clone()).collect::<Vec<_>>(),
        wanted
    );
    let rest = store.ask(10);
    let wanted = rest.claimants[..2].to_vec();
    let tasks = store.reserve(rest).await;
    assert_eq!(tasks.into_iter().map(|task| task.claimant).collect::<Vec<_>>(), wanted);
}

fn by_score(mut executions: Vec<Execution>) -> Vec<ExecutionId> {
    executions.sort_by_key(score);
    executions.into_iter().map(|execution| execution.id).collect()
}
