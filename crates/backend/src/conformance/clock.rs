//! The store's clock is the only one, and it never goes back.

use ff_core::machine::index::Index;
use ff_core::partition::{Family, Partition};
use ff_core::time::{Duration, Timestamp};

use super::build::Store;
use crate::due::Due;
use crate::load::Load;
use crate::transaction::{CommitError, Transaction};

pub(super) async fn advancing_moves_the_clock_of_every_partition(store: &Store<'_>) {
    let partitions: Vec<Partition> = store.counts().all(Family::Flow).take(8).collect();
    let before = times(store, &partitions).await;
    let day = Duration::from_hours(24);
    store.advance(day).await;
    let after = times(store, &partitions).await;
    for (before, after) in before.into_iter().zip(after) {
        assert!(after >= before + day, "{before} became {after}");
        assert!(after < before + day + day, "{before} became {after}");
    }
}

pub(super) async fn every_reply_carries_a_time_that_never_goes_back(store: &Store<'_>) {
    let mut last = Timestamp::default();
    let mut check = |now: Timestamp| {
        assert!(now >= last, "{now} comes after {last}");
        last = now;
    };
    for round in 0..20 {
        let backend = store.backend();
        check(backend.ping().await.expect("the store answers"));
        let execution = store.submit(store.command()).await;
        check(store.now().await);
        let (_, version) = store.versioned(execution.id).await;
        check(store.commit(store.replacement(&execution, version)).await.now);
        check(backend.reserve(store.ask(1)).await.expect("the store answers").now);
        check(
            backend
                .due(Due {
                    partitions: vec![store.home()],
                    limit: 1,
                })
                .await
                .expect("the store answers")
                .now,
        );
        check(store.page(store.range(Index::Age(None)), None, 1).await.now);
        if round % 5 == 0 {
            store.advance(Duration::from_millis(1)).await;
        }
    }
}

pub(super) async fn a_commit_that_was_in_time_is_too_late_after_the_clock_moved(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let not_after = Some(store.now().await + Duration::from_secs(60));
    let (_, version) = store.versioned(execution.id).await;
    store
        .commit(Transaction {
            not_after,
            ..store.replacement(&execution, version)
        })
        .await;
    store.advance(Duration::from_secs(60)).await;
    let (_, version) = store.versioned(execution.id).await;
    let answer = store
        .try_commit(Transaction {
            not_after,
            ..store.replacement(&execution, version)
        })
        .await;
    assert!(
        matches!(answer, Err(CommitError::TooLate { now }) if Some(now) >= not_after),
        "{answer:?}"
    );
}

pub(super) async fn a_reservation_is_stamped_with_the_clock_as_it_was_moved(store: &Store<'_>) {
    let submitted = store.submit(store.command()).await;
    store.advance(Duration::from_hours(1)).await;
    let task = store.take().await;
    assert!(task.execution.updated_at >= submitted.updated_at + Duration::from_hours(1));
}

async fn times(store: &Store<'_>, partitions: &[Partition]) -> Vec<Timestamp> {
    let loads = partitions
        .iter()
        .map(|partition| Load::records(*partition, []))
        .collect();
    let snapshots = store.backend().load(loads).await.expect("the store answers");
    snapshots.into_iter().map(|snapshot| snapshot.now).collect()
}
