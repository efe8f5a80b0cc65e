//! A reply got lost: the caller repeats, and learns from the tag whether its first call landed.

use ff_core::id::ExecutionId;
use ff_core::record::{CounterKey, Execution, GroupCounter, HistorySubject, Record, RecordKey};

use super::build::{Store, conflict};
use super::feed::line;
use crate::load::Load;
use crate::query::{Listing, Page};
use crate::transaction::{Delete, Transaction};

pub(super) async fn a_repeated_replacement_finds_its_own_tag(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let (_, version) = store.versioned(execution.id).await;
    let transaction = store.replacement(&execution, version);
    store.commit(transaction.clone()).await;
    let own = version.next(transaction.tag);
    let answer = store.try_commit(transaction).await;
    assert_eq!(conflict(answer), (RecordKey::Execution(execution.id), Some(own)));
}

pub(super) async fn a_repeated_creation_finds_its_own_tag(store: &Store<'_>) {
    let execution = Execution {
        id: store.id(),
        ..store.submit(store.command()).await
    };
    let transaction = store.creation(store.home(), [Record::from(execution)]);
    store.commit(transaction.clone()).await;
    let found = conflict(store.try_commit(transaction.clone()).await).1;
    assert_eq!(found.map(|version| version.tag), Some(transaction.tag));
}

pub(super) async fn a_repeated_deletion_finds_nothing(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let (_, version) = store.versioned(execution.id).await;
    let deletes = vec![Delete::unlisted(RecordKey::Execution(execution.id), version)];
    let transaction = Transaction {
        deletes,
        ..store.transaction(store.home())
    };
    store.commit(transaction.clone()).await;
    assert_eq!(conflict(store.try_commit(transaction).await).1, None);
}

pub(super) async fn a_repeated_commit_counts_and_tells_nothing_twice(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let (_, version) = store.versioned(execution.id).await;
    let counter = CounterKey::Group(execution.id, GroupCounter::Satisfied);
    let transaction = Transaction {
        increments: vec![(counter, 1)],
        history: vec![line(&execution, "once")],
        ..store.replacement(&execution, version)
    };
    store.commit(transaction.clone()).await;
    conflict(store.try_commit(transaction).await);
    let snapshot = store
        .load(Load::records(store.home(), []).with_counters([counter]))
        .await;
    assert_eq!(snapshot.counter(counter), 1);
    let history = Listing::History(HistorySubject::Execution(execution.id));
    let lines = store.follow(&history, 10, Page::history).await;
    assert_eq!(lines.len(), 2, "created, and what was committed once");
}

pub(super) async fn the_writing_of_another_is_told_from_ones_own(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let (_, version) = store.versioned(execution.id).await;
    let [mine, theirs] = [
        store.replacement(&execution, version),
        store.replacement(&execution, version),
    ];
    store.commit(theirs.clone()).await;
    let found = conflict(store.try_commit(mine.clone()).await).1;
    assert_eq!(found, Some(version.next(theirs.tag)));
    assert_ne!(found.map(|version| version.tag), Some(mine.tag));
}

/// The caller goes away at some point of the call, as a dropped connection or a cancelled request does.
pub(super) async fn a_commit_whose_caller_went_away_landed_whole_or_not_at_all(store: &Store<'_>) {
    let template = store.submit(store.command()).await;
    for polls in 0..20 {
        let pair = [store.id(), store.id()];
        let counter = CounterKey::Group(pair[0], GroupCounter::Applied);
        let records = pair.map(|id| Record::from(Execution { id, ..template.clone() }));
        let transaction = Transaction {
            increments: vec![(counter, 1)],
            ..store.creation(store.home(), records)
        };
        let backend = store.backend();
        let call = async { backend.commit(vec![transaction]).await };
        let away = async {
            for _ in 0..polls {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! { biased; () = away => {}, _ = call => {} }
        settled(store, pair, counter).await;
    }
}

/// Whole or nothing; a call still under way may land a little later.
async fn settled(store: &Store<'_>, pair: [ExecutionId; 2], counter: CounterKey) {
    for _ in 0..5 {
        let load = Load::records(store.home(), pair.map(RecordKey::Execution)).with_counters([counter]);
        let snapshot = store.load(load).await;
        let whole = (snapshot.records.len(), snapshot.counter(counter));
        assert!(whole == (0, 0) || whole == (2, 1), "{whole:?} records and counter");
        tokio::task::yield_now().await;
    }
}
