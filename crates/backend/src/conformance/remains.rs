//! What is deleted with an execution, and what outlives it.

use ff_core::command::lease::Complete;
use ff_core::command::operator::HoldExecution;
use ff_core::id::ExecutionId;
use ff_core::machine::{lease, operator};
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, CounterKey, GroupCounter, HistorySubject, Record, RecordKey};

use super::build::{Store, fence};
use super::frames::{a_frame, everything};
use crate::load::Load;
use crate::query::{Listing, Page};
use crate::transaction::{Delete, Transaction};

pub(super) async fn blobs_history_streams_and_counters_go_with_the_execution(store: &Store<'_>) {
    let id = ended_with_remains(store).await;
    delete(store, id).await;
    let counters = GroupCounter::ALL.map(|counter| CounterKey::Group(id, counter));
    let load = Load::records(store.home(), [RecordKey::Execution(id)])
        .with_counters(counters)
        .with_blobs([BlobKey::Input(id), BlobKey::Result(id)]);
    let snapshot = store.load(load).await;
    assert!(snapshot.records.is_empty() && snapshot.blobs.is_empty());
    assert!(
        counters.iter().all(|counter| snapshot.counter(*counter) == 0),
        "{:?}",
        snapshot.counters
    );
    let history = Listing::History(HistorySubject::Execution(id));
    assert_eq!(store.follow(&history, 10, Page::history).await, []);
    let frames = store
        .backend()
        .read(everything(id, 0))
        .await
        .expect("the store answers");
    assert!(frames.frames.is_empty() && frames.summary.is_none() && frames.closed.is_none());
}

pub(super) async fn the_feed_outlives_the_execution_it_names(store: &Store<'_>) {
    let id = ended_with_remains(store).await;
    let before = store.feed(store.home(), 10).await;
    assert!(!before.is_empty());
    delete(store, id).await;
    assert_eq!(store.feed(store.home(), 10).await, before);
}

pub(super) async fn the_remains_of_others_stay(store: &Store<'_>) {
    let other = store.submit(store.command()).await.id;
    store
        .apply(other, |execution, context| {
            operator::hold(execution, &HoldExecution { reason: None }, context)
        })
        .await;
    let id = ended_with_remains(store).await;
    delete(store, id).await;
    let snapshot = store
        .load(Load::records(store.home(), []).with_blobs([BlobKey::Input(other)]))
        .await;
    assert_eq!(snapshot.blobs.len(), 1);
    let history = Listing::History(HistorySubject::Execution(other));
    assert_eq!(store.follow(&history, 10, Page::history).await.len(), 2);
}

/// A completed execution with input, result, history, counters and a stream.
async fn ended_with_remains(store: &Store<'_>) -> ExecutionId {
    let task = store.leased().await;
    let id = task.execution.id;
    let appended = store.backend().append(vec![a_frame(&task, "frame")]).await.remove(0);
    appended.expect("the lease is live");
    let complete = Complete {
        fence: Some(fence(&task)),
        result: Some(Payload::binary("result")),
        ..Complete::default()
    };
    store
        .apply(id, |execution, context| lease::complete(execution, &complete, context))
        .await;
    let (execution, version) = store.versioned(id).await;
    let increments = GroupCounter::ALL
        .map(|counter| (CounterKey::Group(id, counter), 3))
        .into();
    store
        .commit(Transaction {
            increments,
            ..store.replacement(&execution, version)
        })
        .await;
    assert!(matches!(
        store.record(store.home(), RecordKey::Execution(id)).await,
        Some((Record::Execution(_), _))
    ));
    id
}

async fn delete(store: &Store<'_>, id: ExecutionId) {
    let (_, version) = store.versioned(id).await;
    let transaction = Transaction {
        deletes: vec![Delete::unlisted(RecordKey::Execution(id), version)],
        delete_remains: vec![id],
        ..store.transaction(store.home())
    };
    store.commit(transaction).await;
}
