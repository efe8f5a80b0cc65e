//! Several unrelated transactions in one call.

use ff_core::partition::{Family, Partition};
use ff_core::record::{Execution, Record, RecordKey};

use super::build::{Store, conflict, submission};
use crate::transaction::{CommitError, Transaction, Version};

pub(super) async fn every_transaction_is_answered_in_its_place(store: &Store<'_>) {
    let template = store.submit(store.command()).await;
    let stale = Version {
        counter: 9,
        tag: store.tag(),
    };
    let batch: Vec<Transaction> = (0..20)
        .map(|n| {
            let execution = Execution {
                id: store.id(),
                ..template.clone()
            };
            match n % 3 {
                0 => store.creation(store.home(), [Record::from(execution)]),
                1 => store.replacement(&execution, stale),
                _ => Transaction {
                    not_after: Some(template.updated_at),
                    ..store.creation(store.home(), [Record::from(execution)])
                },
            }
        })
        .collect();
    let answers = store.backend().commit(batch.clone()).await;
    assert_eq!(answers.len(), batch.len());
    for (n, (answer, transaction)) in answers.into_iter().zip(batch).enumerate() {
        let key = transaction.puts[0].record.key();
        match n % 3 {
            0 => assert!(answer.is_ok(), "{answer:?}"),
            1 => assert_eq!(conflict(answer), (key, None)),
            _ => assert!(matches!(answer, Err(CommitError::TooLate { .. })), "{answer:?}"),
        }
    }
}

pub(super) async fn one_that_fails_does_not_keep_the_others_from_landing(store: &Store<'_>) {
    let template = store.submit(store.command()).await;
    let [before, after] = [store.id(), store.id()];
    let creation = |id| store.creation(store.home(), [Record::from(Execution { id, ..template.clone() })]);
    let malformed = {
        let mut twice = creation(store.id());
        twice.puts.extend(twice.puts.clone());
        twice
    };
    let answers = store
        .backend()
        .commit(vec![
            creation(before),
            creation(template.id),
            malformed,
            creation(after),
        ])
        .await;
    assert_eq!(
        answers.iter().map(Result::is_ok).collect::<Vec<_>>(),
        [true, false, false, true]
    );
    for id in [before, after] {
        assert!(store.record(store.home(), RecordKey::Execution(id)).await.is_some());
    }
}

pub(super) async fn a_batch_may_span_partitions(store: &Store<'_>) {
    let now = store.now().await;
    let partitions = store.counts().count(Family::Flow);
    let ids: Vec<_> = (0..64).map(|n| store.id_in(Partition::flow(n % partitions))).collect();
    let batch = ids
        .iter()
        .map(|id| submission(&store.command(), *id, now, store.tag()))
        .collect();
    assert!(store.backend().commit(batch).await.iter().all(Result::is_ok));
    for id in ids {
        assert_eq!(store.execution(id).await.id, id);
    }
}

pub(super) async fn an_empty_batch_has_no_answers(store: &Store<'_>) {
    assert!(store.backend().commit(Vec::new()).await.is_empty());
    assert!(
        store
            .backend()
            .load(Vec::new())
            .await
            .expect("the store answers")
            .is_empty()
    );
    assert!(store.backend().append(Vec::new()).await.is_empty());
}

pub(super) async fn a_thousand_transactions_land_in_one_call(store: &Store<'_>) {
    let now = store.now().await;
    let batch: Vec<_> = (0..1_000)
        .map(|_| submission(&store.command(), store.id(), now, store.tag()))
        .collect();
    let answers = store.backend().commit(batch).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1_000);
    assert_eq!(store.audited(store.home()).await.len(), 1_000);
}
