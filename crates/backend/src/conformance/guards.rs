//! A guard is a record that is read, not written, and must not have changed.

use ff_core::record::{Execution, Record, RecordKey};

use super::build::{Store, conflict};
use crate::transaction::{CommitError, Transaction, Version};

pub(super) async fn a_guard_that_holds_moves_no_version(store: &Store<'_>) {
    let guarded = store.submit(store.command()).await.id;
    let (_, version) = store.versioned(guarded).await;
    let written = Execution {
        id: store.id(),
        ..store.execution(guarded).await
    };
    let guards = vec![(RecordKey::Execution(guarded), Some(version))];
    store
        .commit(Transaction {
            guards,
            ..store.creation(store.home(), [Record::from(written.clone())])
        })
        .await;
    assert_eq!(store.versioned(guarded).await.1, version);
    assert_eq!(store.execution(written.id).await, written);
}

pub(super) async fn a_guard_on_a_changed_record_refuses_the_commit(store: &Store<'_>) {
    let guarded = store.submit(store.command()).await;
    let (_, version) = store.versioned(guarded.id).await;
    store.commit(store.replacement(&guarded, version)).await;
    let (_, newer) = store.versioned(guarded.id).await;
    let written = Execution {
        id: store.id(),
        ..guarded.clone()
    };
    let guards = vec![(RecordKey::Execution(guarded.id), Some(version))];
    let answer = store
        .try_commit(Transaction {
            guards,
            ..store.creation(store.home(), [Record::from(written.clone())])
        })
        .await;
    assert_eq!(conflict(answer), (RecordKey::Execution(guarded.id), Some(newer)));
    assert_eq!(store.record(store.home(), RecordKey::Execution(written.id)).await, None);
}

pub(super) async fn a_guard_compares_the_tag_too(store: &Store<'_>) {
    let guarded = store.submit(store.command()).await;
    let (_, version) = store.versioned(guarded.id).await;
    let other = Version {
        tag: store.tag(),
        ..version
    };
    let guards = vec![(RecordKey::Execution(guarded.id), Some(other))];
    let written = Execution {
        id: store.id(),
        ..guarded
    };
    let answer = store
        .try_commit(Transaction {
            guards,
            ..store.creation(store.home(), [Record::from(written)])
        })
        .await;
    assert_eq!(conflict(answer).1, Some(version));
}

pub(super) async fn a_guard_on_an_absent_record_holds_until_it_is_created(store: &Store<'_>) {
    let template = store.submit(store.command()).await;
    let absent = Execution {
        id: store.id(),
        ..template.clone()
    };
    let guards = vec![(RecordKey::Execution(absent.id), None)];
    let guarding = |id| {
        let written = Record::from(Execution { id, ..template.clone() });
        Transaction {
            guards: guards.clone(),
            ..store.creation(store.home(), [written])
        }
    };
    store.commit(guarding(store.id())).await;
    store
        .commit(store.creation(store.home(), [Record::from(absent.clone())]))
        .await;
    let answer = store.try_commit(guarding(store.id())).await;
    assert_eq!(conflict(answer).0, RecordKey::Execution(absent.id));
}

pub(super) async fn a_guard_on_a_record_that_is_gone_refuses_the_commit(store: &Store<'_>) {
    let written = store.submit(store.command()).await;
    let gone = RecordKey::Execution(store.id());
    let (_, version) = store.versioned(written.id).await;
    let guards = vec![(gone.clone(), Some(version))];
    let answer = store
        .try_commit(Transaction {
            guards,
            ..store.replacement(&written, version)
        })
        .await;
    assert_eq!(conflict(answer), (gone, None));
    assert_eq!(store.versioned(written.id).await.1, version);
}

/// Each reads what the other writes: if both landed, each would have been decided from what was no longer so.
pub(super) async fn two_commits_that_guard_on_each_other_never_both_land(store: &Store<'_>) {
    let pair = [
        store.submit(store.command()).await.id,
        store.submit(store.command()).await.id,
    ];
    for round in 0..50 {
        let [first, second] = [store.versioned(pair[0]).await, store.versioned(pair[1]).await];
        let crossed = [(&first, &second), (&second, &first)].map(|(written, guarded)| {
            let guards = vec![(RecordKey::Execution(guarded.0.id), Some(guarded.1))];
            Transaction {
                guards,
                ..store.replacement(&written.0, written.1)
            }
        });
        let calls = crossed.map(|transaction| {
            let backend = store.backend();
            tokio::spawn(async move { backend.commit(vec![transaction]).await.remove(0) })
        });
        let mut landed = 0;
        for call in calls {
            match call.await.expect("the store answers") {
                Ok(_) => landed += 1,
                Err(CommitError::Conflict { .. }) => {}
                Err(other) => panic!("the commit lands or meets a conflict, got {other}"),
            }
        }
        assert_eq!(landed, 1, "exactly one of the two lands in round {round}");
    }
}
