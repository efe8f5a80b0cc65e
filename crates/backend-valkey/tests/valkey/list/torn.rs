//! What becomes of a call whose index somebody wrote over: the server stops the library in the middle of it.

use ff_backend::load::Load;
use ff_backend::transaction::{CommitError, Put, Tag, Transaction, Version};
use ff_backend::{Backend, Error};
use ff_core::id::ExecutionId;
use ff_core::machine::index::Index;
use ff_core::partition::Partition;
use ff_core::record::{Execution, RecordKey};

use super::{Scratch, everywhere, execution, line, moment, template};

const TORN: u16 = 3;
const WHOLE: u16 = 4;

fn creation(execution: &Execution, expected: Option<Version>) -> Transaction {
    Transaction {
        puts: vec![Put::unlisted(execution.clone().into(), expected)],
        history: vec![line(execution, "told")],
        ..Transaction::new(execution.id.partition(), Tag(7))
    }
}

async fn version(scratch: &Scratch, of: &Execution) -> Option<Version> {
    let key = RecordKey::Execution(of.id);
    let load = Load::records(of.id.partition(), [key.clone()]);
    let snapshots = scratch.backend.load(vec![load]).await.unwrap();
    snapshots[0].version(&key)
}

async fn listed(scratch: &Scratch) -> Vec<Partition> {
    let (ids, _) = scratch.listed(&everywhere(Index::Age(None)), 10).await;
    ids.into_iter().map(ExecutionId::partition).collect()
}

/// Sets are written when all transactions of a call are done, the one that is no set any more among them.
#[tokio::test]
async fn an_index_that_is_no_set_tears_only_what_belongs_into_it() {
    let scratch = Scratch::new().await;
    let [torn, whole] = [TORN, WHOLE].map(|partition| execution(&template(), 1, partition, moment(1)));
    let set = format!("{}:executions", Partition::flow(TORN));
    scratch.server.ask(&format!("SET {set} nonsense")).await;
    let batch = vec![creation(&torn, None), creation(&whole, None)];
    let answers = scratch.backend.commit(batch).await;
    assert!(
        matches!(answers[0], Err(CommitError::Store(Error::Unknown(_)))),
        "{answers:?}"
    );
    assert!(answers[1].is_ok(), "{answers:?}");
    let written = version(&scratch, &torn).await;
    assert!(written.is_some(), "the record is there, and says whose it is");
    assert_eq!(written.map(|version| version.tag), Some(Tag(7)));
    scratch.server.ask(&format!("DEL {set}")).await;
    assert_eq!(listed(&scratch).await, [Partition::flow(WHOLE)]);
    // What the audit does about it.
    let again = scratch.backend.commit(vec![creation(&torn, written)]).await;
    assert!(again[0].is_ok(), "{again:?}");
}

/// It is met before anything is written.
#[tokio::test]
async fn a_record_that_is_none_is_corrupt_and_nothing_is_done() {
    let scratch = Scratch::new().await;
    let [torn, whole] = [TORN, WHOLE].map(|partition| execution(&template(), 1, partition, moment(1)));
    let key = format!("{}:execution:{}", Partition::flow(TORN), torn.id.uuid());
    scratch.server.ask(&format!("SET {key} nonsense")).await;
    let batch = vec![creation(&torn, None), creation(&whole, None)];
    let answers = scratch.backend.commit(batch).await;
    assert!(
        matches!(answers[0], Err(CommitError::Store(Error::Corrupt(_)))),
        "{answers:?}"
    );
    assert!(answers[1].is_ok(), "{answers:?}");
    scratch.server.ask(&format!("DEL {key}")).await;
    assert_eq!(listed(&scratch).await, [Partition::flow(WHOLE)]);
    assert!(scratch.backend.commit(vec![creation(&torn, None)]).await[0].is_ok());
}
