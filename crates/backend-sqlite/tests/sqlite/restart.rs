//! What the writer keeps in memory is there again after a restart.

use ff_backend::Backend;
use ff_backend::load::Snapshot;
use ff_backend::transaction::{CommitError, Tag, Transaction};
use ff_backend_sqlite::{Options, SqliteBackend};
use ff_core::command::submit::CreateExecution;
use ff_core::id::ExecutionId;
use ff_core::machine::{Context, submit};
use ff_core::name::ExecutionKind;
use ff_core::payload::Payload;
use ff_core::time::Timestamp;
use uuid::Uuid;

fn submission(number: u64) -> Transaction {
    let id = ExecutionId::new(0, Uuid::from_u64_pair(number, number));
    let command = CreateExecution::new(ExecutionKind::parse("restart").unwrap(), Payload::default());
    let now = Timestamp::from_millis(1_000);
    let step = submit::create(&command, id, submit::Known::default(), &Context::engine(now)).unwrap();
    Transaction::bind(step.draft, &Snapshot::empty(id.partition(), now), Tag(number))
}

async fn commit(store: &SqliteBackend, number: u64) -> Result<(), CommitError> {
    store.commit(vec![submission(number)]).await.remove(0).map(|_| ())
}

#[tokio::test]
async fn an_execution_is_not_created_twice() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::new(directory.path().join("store.db"));
    let store = SqliteBackend::open(&options).unwrap();
    for number in [3, 1] {
        commit(&store, number).await.unwrap();
    }
    drop(store);
    let again = SqliteBackend::open(&options).unwrap();
    for number in [1, 3] {
        let conflict = commit(&again, number).await;
        assert!(matches!(conflict, Err(CommitError::Conflict { .. })), "{conflict:?}");
    }
    for number in [2, 4] {
        commit(&again, number).await.unwrap();
    }
}
