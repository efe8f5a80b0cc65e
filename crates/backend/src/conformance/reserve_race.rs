//! Many workers at once: every execution goes to exactly one of them.

use std::collections::BTreeSet;

use ff_core::command::operator::CancelExecution;
use ff_core::id::ExecutionId;
use ff_core::machine::{Context, operator};
use ff_core::partition::{Family, Partition};
use ff_core::record::{Record, RecordKey};

use super::build::{Store, ids};
use crate::load::Load;
use crate::reserve::Reserve;
use crate::transaction::{CommitError, Transaction};

const WORKERS: usize = 8;

pub(super) async fn no_two_workers_get_the_same_execution(store: &Store<'_>) {
    let partitions = store.counts().count(Family::Flow).min(16);
    let commands: Vec<_> = (0..400)
        .map(|n| (store.id_in(Partition::flow(n % partitions)), store.command()))
        .collect();
    let submitted: BTreeSet<ExecutionId> = commands.iter().map(|(id, _)| *id).collect();
    store.submit_all(commands).await;
    let mut taken = Vec::new();
    let workers: Vec<_> = (0..WORKERS)
        .map(|_| tokio::spawn(work(store.backend(), asks(store, 200))))
        .collect();
    for worker in workers {
        taken.extend(worker.await.expect("the store answers"));
    }
    assert_eq!(taken.len(), submitted.len(), "each is handed out once");
    assert_eq!(
        taken.into_iter().collect::<BTreeSet<_>>(),
        submitted,
        "and none is forgotten"
    );
    for partition in (0..partitions).map(Partition::flow) {
        let leased = |record: &Record| matches!(record, Record::Execution(execution) if execution.lease_epoch == 1);
        assert!(store.audited(partition).await.iter().all(leased));
    }
}

/// A commit computed before the hand-out must not land after it, and the other way round.
pub(super) async fn a_cancellation_and_a_reservation_never_both_win(store: &Store<'_>) {
    for _ in 0..50 {
        let id = store.submit(store.command()).await.id;
        let cancelling = tokio::spawn(cancelled(store.backend(), cancellation(store, id).await));
        let tasks = store.reserve(store.ask(1)).await;
        let was_cancelled = cancelling.await.expect("the store answers");
        assert_eq!(was_cancelled, tasks.is_empty(), "one of the two wins");
        let execution = store.execution(id).await;
        assert_eq!(execution.is_terminal(), was_cancelled);
        assert_eq!(execution.lease().is_some(), !was_cancelled);
    }
}

async fn cancelled(backend: std::sync::Arc<dyn crate::Backend>, transaction: Transaction) -> bool {
    match backend.commit(vec![transaction]).await.remove(0) {
        Ok(_) => true,
        Err(CommitError::Conflict { .. }) => false,
        Err(other) => panic!("the cancellation lands or meets a conflict, got {other}"),
    }
}

async fn cancellation(store: &Store<'_>, id: ExecutionId) -> Transaction {
    let key = RecordKey::Execution(id);
    let snapshot = store.load(Load::records(id.partition(), [key.clone()])).await;
    let context = Context::engine(snapshot.now);
    let command = CancelExecution {
        reason: "enough".to_owned(),
        fence: None,
    };
    let execution = snapshot.execution(&key).expect("it is stored");
    let decided = operator::cancel(execution, &command, &context).expect("it has not ended");
    Transaction::bind(decided.draft, &snapshot, store.tag())
}

fn asks(store: &Store<'_>, count: usize) -> Vec<Reserve> {
    (0..count).map(|n| store.ask(1 + n % 5)).collect()
}

/// Takes what there is until there is nothing left.
async fn work(backend: std::sync::Arc<dyn crate::Backend>, asks: Vec<Reserve>) -> Vec<ExecutionId> {
    let mut taken = Vec::new();
    for ask in asks {
        let tasks = backend.reserve(ask).await.expect("the store answers").tasks;
        if tasks.is_empty() {
            return taken;
        }
        taken.extend(ids(&tasks));
        tokio::task::yield_now().await;
    }
    panic!("there are more asks than executions");
}
