//! Records that are gone by themselves.

use ff_core::id::ExecutionId;
use ff_core::name::Namespace;
use ff_core::record::{IdempotencyScope, Record, RecordKey, SubmissionKeyRecord};
use ff_core::time::Duration;

use super::build::{Store, conflict, key};
use crate::transaction::{Put, Transaction, Version};

const TTL: Duration = Duration::from_hours(1);

pub(super) async fn a_record_with_a_time_to_live_is_there_until_then(store: &Store<'_>) {
    let created = remembered(store).await;
    store.advance(TTL.saturating_sub(Duration::from_secs(60))).await;
    assert_eq!(store.record(store.home(), created.0.key()).await, Some(created.clone()));
    let again = store.try_commit(creation(store)).await;
    assert_eq!(conflict(again), (created.0.key(), Some(created.1)));
}

pub(super) async fn a_record_is_gone_after_its_time_to_live(store: &Store<'_>) {
    let (record, version) = remembered(store).await;
    store.advance(TTL).await;
    assert_eq!(store.record(store.home(), record.key()).await, None);
    assert_eq!(store.audited(store.home()).await, []);
    let put = Put::unlisted(record.clone(), Some(version));
    let answer = store
        .try_commit(Transaction {
            puts: vec![put],
            ..store.transaction(store.home())
        })
        .await;
    assert_eq!(conflict(answer), (record.key(), None));
}

pub(super) async fn a_record_whose_time_is_over_may_be_created_again(store: &Store<'_>) {
    let (record, _) = remembered(store).await;
    store.advance(TTL).await;
    let guards = vec![(record.key(), None)];
    store
        .commit(Transaction {
            guards,
            ..store.transaction(store.home())
        })
        .await;
    let again = creation(store);
    let tag = again.tag;
    store.commit(again).await;
    assert_eq!(
        store.record(store.home(), record.key()).await,
        Some((record, Version::first(tag)))
    );
}

pub(super) async fn the_time_to_live_starts_again_with_the_record(store: &Store<'_>) {
    let (record, _) = remembered(store).await;
    store.advance(TTL).await;
    store.commit(creation(store)).await;
    store.advance(TTL.saturating_sub(Duration::from_secs(60))).await;
    assert!(store.record(store.home(), record.key()).await.is_some());
    store.advance(Duration::from_secs(60)).await;
    assert_eq!(store.record(store.home(), record.key()).await, None);
}

pub(super) async fn records_without_a_time_to_live_stay(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    store.advance(Duration::from_hours(24 * 365)).await;
    assert_eq!(store.execution(execution.id).await, execution);
}

fn key_record() -> Record {
    Record::SubmissionKey(SubmissionKeyRecord {
        scope: IdempotencyScope::Namespace(Namespace::default_namespace()),
        key: key("order-1"),
        execution_id: ExecutionId::new(0, uuid::Uuid::from_u128(1)),
        content_digest: "digest".to_owned(),
        carried: Default::default(),
    })
}

fn creation(store: &Store<'_>) -> Transaction {
    let put = Put {
        ttl: Some(TTL),
        ..Put::create(key_record())
    };
    Transaction {
        puts: vec![put],
        ..store.transaction(store.home())
    }
}

async fn remembered(store: &Store<'_>) -> (Record, Version) {
    store.commit(creation(store)).await;
    let key: RecordKey = key_record().key();
    store.record(store.home(), key).await.expect("it is there at first")
}
