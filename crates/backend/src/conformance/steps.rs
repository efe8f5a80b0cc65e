//! Steps: records under the names their worker gave them, read in the order in which they were recorded.

use ff_core::id::ExecutionId;
use ff_core::name::StepKey;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Record, RecordKey, Step};

use super::build::{Store, step};
use crate::load::{Load, LoadSteps, Snapshot};
use crate::transaction::{CommitError, Delete, Put, Transaction};

/// More than any test leaves.
const ALL: u64 = 1 << 40;

fn named(id: ExecutionId, key: &str, seq: u64, output: Option<&str>) -> (Step, Option<Payload>) {
    let output = output.map(|output| Payload::binary(output.as_bytes().to_vec()));
    let step = Step {
        key: StepKey::parse(key).expect("a key"),
        seq,
        output_bytes: output.as_ref().map(|output| output.len() as u64),
        ..step(id)
    };
    (step, output)
}

/// Records steps that were not there.
async fn record(store: &Store<'_>, steps: Vec<(Step, Option<Payload>)>) {
    let blobs = steps.iter().filter_map(|(step, output)| {
        let blob = BlobKey::Step(step.execution_id, step.seq);
        Some((blob, output.clone()?))
    });
    let blobs = blobs.collect();
    let records = steps.into_iter().map(|(step, _)| Record::from(step));
    let creation = store.creation(store.home(), records);
    store.commit(Transaction { blobs, ..creation }).await;
}

async fn read(
    store: &Store<'_>,
    execution_id: ExecutionId,
    from_seq: u64,
    limit: usize,
    output_bytes: u64,
) -> Snapshot {
    let steps = LoadSteps {
        execution_id,
        from_seq,
        limit,
        output_bytes,
    };
    store.load(Load::records(store.home(), []).with_steps([steps])).await
}

fn keys(snapshot: &Snapshot, id: ExecutionId) -> Vec<String> {
    let steps = snapshot.steps(id).into_iter();
    steps.map(|step| step.key.to_string()).collect()
}

fn outputs(snapshot: &Snapshot) -> Vec<u64> {
    let place = |key: &BlobKey| match key {
        BlobKey::Step(_, seq) => *seq,
        other => panic!("{other:?} was not asked for"),
    };
    snapshot.blobs.keys().map(place).collect()
}

async fn five(store: &Store<'_>) -> ExecutionId {
    let id = store.submit(store.command()).await.id;
    let other = store.submit(store.command()).await.id;
    let steps = [
        ("llm#0", "12345"),
        ("b", "123"),
        ("llm#1", "1234"),
        ("a", ""),
        ("z/é[1]", "1"),
    ];
    let steps = steps.iter().zip(0..);
    let of = |id| {
        steps
            .clone()
            .map(move |((key, output), seq)| named(id, key, seq, Some(output)))
    };
    record(store, of(id).collect()).await;
    record(store, of(other).take(2).collect()).await;
    id
}

pub(super) async fn they_come_in_the_order_in_which_they_were_recorded(store: &Store<'_>) {
    let id = five(store).await;
    let all = read(store, id, 0, 100, ALL).await;
    assert_eq!(keys(&all, id), ["llm#0", "b", "llm#1", "a", "z/é[1]"]);
    assert_eq!(all.records.len(), 5, "nothing of another execution");
    assert_eq!(outputs(&all), [0, 1, 2, 3, 4]);
    assert_eq!(all.blobs[&BlobKey::Step(id, 2)].bytes, "1234");
    assert_eq!(keys(&read(store, id, 1, 2, 0).await, id), ["b", "llm#1"]);
    assert_eq!(keys(&read(store, id, 4, 2, 0).await, id), ["z/é[1]"]);
    assert!(read(store, id, 5, 2, ALL).await.records.is_empty());
}

pub(super) async fn more_than_nine_of_them_come_in_order_too(store: &Store<'_>) {
    let id = store.submit(store.command()).await.id;
    let steps = (0..120).map(|seq| named(id, &format!("s#{seq}"), seq, None));
    record(store, steps.collect()).await;
    let some = read(store, id, 8, 100, ALL).await;
    let wanted: Vec<String> = (8..108).map(|seq| format!("s#{seq}")).collect();
    assert_eq!(keys(&some, id), wanted);
}

pub(super) async fn outputs_come_along_while_they_fit(store: &Store<'_>) {
    let id = five(store).await;
    for (bytes, wanted) in [
        (0, vec![]),
        (4, vec![]),
        (5, vec![0]),
        (7, vec![0]),
        (8, vec![0, 1]),
        (12, vec![0, 1, 2, 3]),
        (13, vec![0, 1, 2, 3, 4]),
    ] {
        let snapshot = read(store, id, 0, 100, bytes).await;
        assert_eq!(
            (snapshot.records.len(), outputs(&snapshot)),
            (5, wanted),
            "{bytes} bytes"
        );
    }
    assert_eq!(
        outputs(&read(store, id, 3, 100, 0).await),
        [3],
        "what is empty always fits"
    );
}

pub(super) async fn a_name_that_is_taken_is_a_conflict(store: &Store<'_>) {
    let id = five(store).await;
    let key = RecordKey::Step(id, StepKey::parse("b").expect("a key"));
    let found = store
        .load(Load::records(store.home(), [key.clone()]))
        .await
        .version(&key);
    let again = store.creation(store.home(), [Record::from(named(id, "b", 5, None).0)]);
    let refused = store
        .backend()
        .commit(vec![again])
        .await
        .remove(0)
        .expect_err("it is taken");
    assert_eq!(refused, CommitError::Conflict { key, found });
    assert_eq!(keys(&read(store, id, 0, 100, 0).await, id).len(), 5);
}

pub(super) async fn one_that_is_replaced_has_its_new_place(store: &Store<'_>) {
    let id = five(store).await;
    let (step, output) = named(id, "b", 5, Some("new"));
    let key = RecordKey::Step(id, step.key.clone());
    let expected = store
        .load(Load::records(store.home(), [key.clone()]))
        .await
        .version(&key);
    let put = Put::unlisted(Record::from(step), expected);
    let transaction = Transaction {
        puts: vec![put],
        blobs: vec![(BlobKey::Step(id, 5), output.expect("an output"))],
        ..store.transaction(store.home())
    };
    store.commit(transaction).await;
    let all = read(store, id, 0, 100, ALL).await;
    assert_eq!(keys(&all, id), ["llm#0", "llm#1", "a", "z/é[1]", "b"]);
    assert_eq!(all.blobs[&BlobKey::Step(id, 5)].bytes, "new");
}

pub(super) async fn one_that_is_deleted_is_gone_and_the_remains_take_the_outputs(store: &Store<'_>) {
    let id = five(store).await;
    let key = RecordKey::Step(id, StepKey::parse("llm#1").expect("a key"));
    let version = store
        .load(Load::records(store.home(), [key.clone()]))
        .await
        .version(&key);
    let transaction = Transaction {
        deletes: vec![Delete::unlisted(key, version.expect("it is there"))],
        ..store.transaction(store.home())
    };
    store.commit(transaction).await;
    assert_eq!(
        keys(&read(store, id, 0, 100, 0).await, id),
        ["llm#0", "b", "a", "z/é[1]"]
    );
    let transaction = Transaction {
        delete_remains: vec![id],
        ..store.transaction(store.home())
    };
    store.commit(transaction).await;
    assert!(outputs(&read(store, id, 0, 100, ALL).await).is_empty());
}
