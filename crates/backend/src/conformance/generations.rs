//! What was decided from counters lands only in the generation they were read in.

use ff_core::machine::decided::Nudge;
use ff_core::record::{CounterKey, Execution, GroupCounter, RecordKey};
use ff_core::time::Duration;

use super::build::Store;
use crate::load::{Load, Snapshot};
use crate::transaction::{CommitError, Generation, Transaction};

pub(super) async fn a_commit_with_the_generation_that_was_read_lands(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let read = counted(store, &execution).await.generation;
    for _ in 0..3 {
        // Others write and time passes, but nothing is lost.
        store.submit(store.command()).await;
        store.advance(Duration::from_secs(1)).await;
        store.commit(moving(store, &execution, read).await).await;
    }
    let snapshot = counted(store, &execution).await;
    assert_eq!((snapshot.counter(failed(&execution)), snapshot.generation), (3, read));
}

pub(super) async fn a_commit_of_another_generation_is_refused_and_does_nothing(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let before = counted(store, &execution).await;
    for other in others(before.generation) {
        let answer = store.try_commit(moving(store, &execution, other).await).await;
        assert_eq!(answer, Err(CommitError::OtherGeneration));
    }
    let after = counted(store, &execution).await;
    assert_eq!((after.records, after.counters), (before.records, before.counters));
    assert_eq!(store.due_at_home().await, []);
    store.audited(store.home()).await;
}

/// Whoever decided in a lost generation learns it, whatever else is not as it was.
pub(super) async fn generations_are_compared_before_versions(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let read = counted(store, &execution).await.generation;
    let stale = moving(store, &execution, Generation(read.0.wrapping_add(1))).await;
    store.commit(moving(store, &execution, read).await).await;
    assert_eq!(store.try_commit(stale).await, Err(CommitError::OtherGeneration));
}

/// An execution with a counter of its group.
async fn counted(store: &Store<'_>, execution: &Execution) -> Snapshot {
    let load = Load::records(store.home(), [RecordKey::Execution(execution.id)]);
    store.load(load.with_counters([failed(execution)])).await
}

/// Writes an execution, counts and nudges it, if the partition has this generation.
async fn moving(store: &Store<'_>, execution: &Execution, generation: Generation) -> Transaction {
    let (_, version) = store.versioned(execution.id).await;
    let nudge = Nudge {
        key: RecordKey::Execution(execution.id),
        only_at_zero: None,
    };
    Transaction {
        generation: Some(generation),
        increments: vec![(failed(execution), 1)],
        nudges: vec![nudge],
        ..store.replacement(execution, version)
    }
}

/// Earlier and later ones, near and far.
fn others(read: Generation) -> [Generation; 3] {
    [1, u64::MAX, 1 << 63].map(|by| Generation(read.0.wrapping_add(by)))
}

const fn failed(execution: &Execution) -> CounterKey {
    CounterKey::Group(execution.id, GroupCounter::Failed)
}
