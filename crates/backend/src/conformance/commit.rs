//! A transaction lands whole, or not at all.

use ff_core::id::{ExecutionId, SignalId};
use ff_core::machine::decided::Nudge;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, CounterKey, Execution, GroupCounter, Record, RecordKey};
use ff_core::time::Duration;

use super::build::{Store, conflict, every_record};
use super::feed::line;
use crate::load::Load;
use crate::transaction::{CommitError, Delete, Put, Tag, Transaction, Version};

pub(super) async fn a_new_record_is_read_back_with_its_first_version(store: &Store<'_>) {
    let execution = Execution {
        id: store.id(),
        ..store.submit(store.command()).await
    };
    let creation = store.creation(store.home(), [Record::from(execution.clone())]);
    let tag = creation.tag;
    store.commit(creation).await;
    assert_eq!(store.versioned(execution.id).await, (execution, Version::first(tag)));
}

pub(super) async fn a_replaced_record_has_the_next_version_and_the_new_tag(store: &Store<'_>) {
    let id = store.submit(store.command()).await.id;
    for priority in 1..4 {
        let (execution, version) = store.versioned(id).await;
        let changed = Execution { priority, ..execution };
        let replacement = store.replacement(&changed, version);
        let tag = replacement.tag;
        store.commit(replacement).await;
        assert_eq!(store.versioned(id).await, (changed, version.next(tag)));
    }
}

pub(super) async fn every_kind_of_record_comes_back_as_it_was_written(store: &Store<'_>) {
    for record in every_record(store).await {
        let creation = store.creation(store.home(), [record.clone()]);
        let version = Version::first(creation.tag);
        store.commit(creation).await;
        let found = store.record(store.home(), record.key()).await;
        assert_eq!(found, Some((record, version)));
    }
    store.audited(store.home()).await;
}

pub(super) async fn one_stale_record_refuses_the_whole_transaction(store: &Store<'_>) {
    let stale = store.submit(store.command()).await;
    let fresh = Execution {
        id: store.id(),
        ..stale.clone()
    };
    let wrong = Version {
        counter: 7,
        tag: store.tag(),
    };
    let counter = CounterKey::Group(fresh.id, GroupCounter::Applied);
    let mut transaction = store.creation(store.home(), [Record::from(fresh.clone())]);
    transaction
        .puts
        .push(Put::unlisted(Record::from(stale.clone()), Some(wrong)));
    transaction
        .blobs
        .push((BlobKey::Result(fresh.id), Payload::binary("never")));
    transaction.increments.push((counter, 1));
    transaction.nudges.push(Nudge::always(RecordKey::Execution(stale.id)));
    transaction.history.push(line(&stale, "never"));
    let before = all_of_it(store, &stale, &fresh, counter).await;
    conflict(store.try_commit(transaction).await);
    assert_eq!(all_of_it(store, &stale, &fresh, counter).await, before);
}

/// Everything the refused transaction would have changed.
async fn all_of_it(
    store: &Store<'_>,
    stale: &Execution,
    fresh: &Execution,
    counter: CounterKey,
) -> impl PartialEq + std::fmt::Debug {
    let keys = [stale.id, fresh.id].map(RecordKey::Execution);
    let load = Load::records(store.home(), keys).with_counters([counter]);
    let snapshot = store.load(load.with_blobs([BlobKey::Result(fresh.id)])).await;
    let feed = store.feed(store.home(), 10).await;
    let kept = (snapshot.records, snapshot.counters, snapshot.blobs, snapshot.nudges);
    (kept, feed, store.due_at_home().await)
}

pub(super) async fn a_conflict_names_the_record_and_the_version_it_has(store: &Store<'_>) {
    let id = store.submit(store.command()).await.id;
    let (execution, version) = store.versioned(id).await;
    store.commit(store.replacement(&execution, version)).await;
    let (_, newer) = store.versioned(id).await;
    let answer = store.try_commit(store.replacement(&execution, version)).await;
    assert_eq!(conflict(answer), (RecordKey::Execution(id), Some(newer)));
}

pub(super) async fn the_first_record_that_changed_is_the_one_reported(store: &Store<'_>) {
    let first = store.submit(store.command()).await;
    let second = store.submit(store.command()).await;
    let wrong = Some(Version {
        counter: 9,
        tag: store.tag(),
    });
    let puts = [&second, &first].map(|execution| Put::unlisted(Record::from(execution.clone()), wrong));
    let transaction = Transaction {
        puts: puts.into(),
        ..store.transaction(store.home())
    };
    assert_eq!(
        conflict(store.try_commit(transaction).await).0,
        RecordKey::Execution(second.id)
    );
}

pub(super) async fn a_version_with_another_tag_is_another_version(store: &Store<'_>) {
    let id = store.submit(store.command()).await.id;
    let (execution, version) = store.versioned(id).await;
    let other = Version {
        tag: Tag(version.tag.0 ^ 1),
        ..version
    };
    let answer = store.try_commit(store.replacement(&execution, other)).await;
    assert_eq!(conflict(answer).1, Some(version));
}

pub(super) async fn tags_keep_all_their_bits(store: &Store<'_>) {
    for tag in [0, 1, (1 << 53) + 1, i64::MAX as u64 + 1, u64::MAX - 1, u64::MAX].map(Tag) {
        let execution = Execution {
            id: store.id(),
            ..store.submit(store.command()).await
        };
        let creation = Transaction {
            tag,
            ..store.creation(store.home(), [Record::from(execution.clone())])
        };
        store.commit(creation).await;
        let (_, version) = store.versioned(execution.id).await;
        assert_eq!(version, Version::first(tag));
        store.commit(store.replacement(&execution, version)).await;
    }
}

pub(super) async fn a_record_that_must_not_exist_is_not_overwritten(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let (before, version) = store.versioned(execution.id).await;
    let other = Execution {
        priority: 5,
        ..execution
    };
    let answer = store
        .try_commit(store.creation(store.home(), [Record::from(other)]))
        .await;
    assert_eq!(conflict(answer), (RecordKey::Execution(before.id), Some(version)));
    assert_eq!(store.versioned(before.id).await, (before, version));
}

pub(super) async fn a_record_that_is_gone_is_not_replaced(store: &Store<'_>) {
    let execution = Execution {
        id: store.id(),
        ..store.submit(store.command()).await
    };
    let answer = store
        .try_commit(store.replacement(&execution, Version::first(store.tag())))
        .await;
    assert_eq!(conflict(answer), (RecordKey::Execution(execution.id), None));
}

pub(super) async fn a_deleted_record_is_gone_and_may_be_created_anew(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let key = RecordKey::Execution(execution.id);
    let (_, version) = store.versioned(execution.id).await;
    store
        .commit(Transaction {
            deletes: vec![Delete::unlisted(key.clone(), version)],
            ..store.transaction(store.home())
        })
        .await;
    assert_eq!(store.record(store.home(), key).await, None);
    assert_eq!(store.audited(store.home()).await, []);
    assert!(store.reserve(store.ask(1)).await.is_empty());
    let creation = store.creation(store.home(), [Record::from(execution.clone())]);
    let tag = creation.tag;
    store.commit(creation).await;
    assert_eq!(store.versioned(execution.id).await.1, Version::first(tag));
}

pub(super) async fn a_delete_of_another_version_is_refused(store: &Store<'_>) {
    let id = store.submit(store.command()).await.id;
    let (execution, version) = store.versioned(id).await;
    store.commit(store.replacement(&execution, version)).await;
    let (_, newer) = store.versioned(id).await;
    let deletes = vec![Delete::unlisted(RecordKey::Execution(id), version)];
    let answer = store
        .try_commit(Transaction {
            deletes,
            ..store.transaction(store.home())
        })
        .await;
    assert_eq!(conflict(answer), (RecordKey::Execution(id), Some(newer)));
    assert_eq!(store.versioned(id).await.1, newer);
}

pub(super) async fn a_commit_is_refused_from_its_not_after_on(store: &Store<'_>) {
    let id = store.submit(store.command()).await.id;
    let (execution, version) = store.versioned(id).await;
    let limit = store.now().await;
    let transaction = Transaction {
        not_after: Some(limit),
        ..store.replacement(&execution, version)
    };
    match store.try_commit(transaction).await {
        Err(CommitError::TooLate { now }) => assert!(now >= limit, "{now} is before {limit}"),
        other => panic!("the commit is too late, got {other:?}"),
    }
    assert_eq!(store.versioned(id).await, (execution, version));
}

pub(super) async fn a_commit_lands_before_its_not_after(store: &Store<'_>) {
    let id = store.submit(store.command()).await.id;
    let (execution, version) = store.versioned(id).await;
    let not_after = Some(store.now().await + Duration::from_hours(1));
    let committed = store
        .commit(Transaction {
            not_after,
            ..store.replacement(&execution, version)
        })
        .await;
    assert!(Some(committed.now) < not_after);
}

pub(super) async fn versions_are_compared_before_not_after(store: &Store<'_>) {
    let id = store.submit(store.command()).await.id;
    let (execution, version) = store.versioned(id).await;
    let other = Version { counter: 5, ..version };
    let not_after = Some(store.now().await);
    let answer = store
        .try_commit(Transaction {
            not_after,
            ..store.replacement(&execution, other)
        })
        .await;
    assert_eq!(conflict(answer).1, Some(version));
}

pub(super) async fn malformed_transactions_are_refused_and_do_nothing(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let (_, version) = store.versioned(execution.id).await;
    let counter = CounterKey::Group(execution.id, GroupCounter::Applied);
    let bare = Transaction {
        increments: vec![(counter, 1)],
        ..store.transaction(store.home())
    };
    let mut twice = store.replacement(&execution, version);
    twice.puts.extend(twice.puts.clone());
    let mut timed = store.replacement(&execution, version);
    timed.puts[0].ttl = Some(Duration::from_secs(1));
    for transaction in [bare, twice, timed] {
        let answer = store.try_commit(transaction).await;
        assert!(matches!(answer, Err(CommitError::Malformed(_))), "{answer:?}");
    }
    let load = Load::records(store.home(), [RecordKey::Execution(execution.id)]).with_counters([counter]);
    let snapshot = store.load(load).await;
    assert_eq!(
        (
            snapshot.counter(counter),
            snapshot.version(&RecordKey::Execution(execution.id))
        ),
        (0, Some(version))
    );
}

pub(super) async fn a_blob_of_an_execution_that_does_not_exist_is_not_kept(store: &Store<'_>) {
    let nobody = store.id();
    let blobs = every_blob(store, nobody);
    let beside = store.submit(store.command()).await.id;
    let (execution, version) = store.versioned(beside).await;
    let transaction = Transaction {
        blobs: blobs.clone(),
        ..store.replacement(&execution, version)
    };
    store.commit(transaction).await;
    assert_eq!(kept(store, &blobs).await, [], "nobody has them");
    let born = Execution {
        id: nobody,
        ..execution
    };
    store.commit(store.creation(store.home(), [Record::from(born)])).await;
    assert_eq!(kept(store, &blobs).await, [], "nor does whoever comes later");
}

pub(super) async fn a_blob_goes_with_its_execution(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let id = execution.id;
    let blobs = every_blob(store, id);
    let (before, with_it) = blobs.split_at(2);
    let (_, version) = store.versioned(id).await;
    let transaction = Transaction {
        blobs: before.to_vec(),
        ..store.replacement(&execution, version)
    };
    store.commit(transaction).await;
    assert_eq!(kept(store, &blobs).await.len(), 3, "and the input it came with");
    let (_, version) = store.versioned(id).await;
    let transaction = Transaction {
        blobs: with_it.to_vec(),
        deletes: vec![Delete::unlisted(RecordKey::Execution(id), version)],
        ..store.transaction(store.home())
    };
    store.commit(transaction).await;
    assert_eq!(kept(store, &blobs).await, []);
    store
        .commit(store.creation(store.home(), [Record::from(execution)]))
        .await;
    assert_eq!(kept(store, &blobs).await, [], "they do not come back with it");
}

/// One blob of each kind for an execution.
fn every_blob(store: &Store<'_>, id: ExecutionId) -> Vec<(BlobKey, Payload)> {
    let signal = |id| BlobKey::Signal(id, SignalId::from_uuid(store.uuid()));
    let keys = [BlobKey::Result(id), signal(id), signal(id), BlobKey::Input(id)];
    keys.map(|key| (key, Payload::binary("blob"))).to_vec()
}

async fn kept(store: &Store<'_>, blobs: &[(BlobKey, Payload)]) -> Vec<BlobKey> {
    let load = Load::records(store.home(), []).with_blobs(blobs.iter().map(|(key, _)| *key));
    store.load(load).await.blobs.into_keys().collect()
}

pub(super) async fn a_blob_written_again_is_replaced(store: &Store<'_>) {
    let id = store.submit(store.command()).await.id;
    let blob = BlobKey::Result(id);
    for text in ["first", "second"] {
        let (execution, version) = store.versioned(id).await;
        let blobs = vec![(blob, Payload::binary(text))];
        store
            .commit(Transaction {
                blobs,
                ..store.replacement(&execution, version)
            })
            .await;
        let found = store.load(Load::records(store.home(), []).with_blobs([blob])).await;
        assert_eq!(found.blobs.get(&blob), Some(&Payload::binary(text)));
    }
}
