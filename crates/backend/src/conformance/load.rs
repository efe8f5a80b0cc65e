//! A load sees its partition at one moment.

use ff_core::id::{ExecutionId, FlowId};
use ff_core::partition::{Family, Partition};
use ff_core::record::{BlobKey, CounterKey, Execution, FlowCounter, GateState, GroupCounter, Record, RecordKey};

use super::build::Store;
use crate::load::Load;
use crate::transaction::{Put, Transaction};

pub(super) async fn what_does_not_exist_is_absent(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let absent = store.id();
    let load = Load::records(
        store.home(),
        [RecordKey::Execution(absent), RecordKey::Execution(execution.id)],
    )
    .with_counters([CounterKey::Group(absent, GroupCounter::Failed)])
    .with_blobs([BlobKey::Result(execution.id), BlobKey::Input(absent)]);
    let snapshot = store.load(load).await;
    assert_eq!(
        snapshot.records.keys().collect::<Vec<_>>(),
        [&RecordKey::Execution(execution.id)]
    );
    assert_eq!(snapshot.counter(CounterKey::Group(absent, GroupCounter::Failed)), 0);
    assert!(snapshot.blobs.is_empty() && snapshot.nudges.is_empty());
}

pub(super) async fn loads_are_answered_in_order_and_each_from_its_own_partition(store: &Store<'_>) {
    let partitions: Vec<Partition> = (0..store.counts().count(Family::Flow).min(8))
        .map(Partition::flow)
        .collect();
    let mut wanted = Vec::new();
    for partition in partitions.iter().rev() {
        wanted.push(store.submit_as(store.id_in(*partition), store.command()).await);
    }
    let load = |execution: &Execution| Load::records(execution.id.partition(), [RecordKey::Execution(execution.id)]);
    let snapshots = store
        .backend()
        .load(wanted.iter().map(load).collect())
        .await
        .expect("the store answers");
    assert_eq!(snapshots.len(), wanted.len());
    for (snapshot, execution) in snapshots.iter().zip(&wanted) {
        assert_eq!(snapshot.partition, execution.id.partition());
        assert_eq!(snapshot.execution(&RecordKey::Execution(execution.id)), Some(execution));
    }
}

/// Two records and a counter are always written together, so no snapshot may show them apart.
pub(super) async fn a_load_never_sees_half_of_a_commit(store: &Store<'_>) {
    let flow_id = FlowId::from_uuid(store.uuid());
    let counter = CounterKey::Flow(flow_id, FlowCounter::Members);
    let pair = [store.submit(store.command()).await, store.submit(store.command()).await];
    let writer = async {
        for priority in 1..=100 {
            let transaction = both_at(store, &pair, priority).await;
            store
                .commit(Transaction {
                    increments: vec![(counter, 1)],
                    ..transaction
                })
                .await;
            tokio::task::yield_now().await;
        }
    };
    let backend = store.backend();
    let keys = pair.clone().map(|execution| RecordKey::Execution(execution.id));
    let load = Load::records(store.home(), keys.clone()).with_counters([counter]);
    let reader = tokio::spawn(async move {
        loop {
            let snapshot = backend
                .load(vec![load.clone()])
                .await
                .expect("the store answers")
                .remove(0);
            let seen = keys
                .each_ref()
                .map(|key| snapshot.execution(key).map(|execution| i64::from(execution.priority)));
            assert_eq!(seen, [Some(snapshot.counter(counter)); 2]);
            if seen[0] == Some(100) {
                return;
            }
            tokio::task::yield_now().await;
        }
    });
    writer.await;
    reader.await.expect("every snapshot is whole");
}

pub(super) async fn the_gate_of_a_member_comes_along(store: &Store<'_>) {
    let flow_id = store.flow(GateState::Open).await;
    let members = [store.member(flow_id).await, store.member(flow_id).await];
    let partition = store.counts().of_flow(flow_id);
    let solo = store.submit_as(store.id_in(partition), store.command()).await;
    let keys = |ids: &[ExecutionId]| ids.iter().copied().map(RecordKey::Execution).collect::<Vec<_>>();
    let of_members = keys(&[members[0].id, members[1].id, store.id_in(partition)]);
    let load = Load::records(partition, of_members.clone());
    let gate = RecordKey::Gate(flow_id);
    let without = store.load(load.clone()).await;
    assert_eq!(
        (without.records.len(), without.gate(&gate)),
        (2, None),
        "only when asked for"
    );
    let with = store.load(load.with_gates()).await;
    let found = with.records.get(&gate).cloned();
    assert_eq!(found, store.record(partition, gate.clone()).await, "with its version");
    assert!(found.is_some() && with.records.len() == 3);
    assert_eq!(with.nudges, without.nudges);
    let alone = store
        .load(Load::records(partition, keys(&[solo.id])).with_gates())
        .await;
    assert_eq!(alone.records.len(), 1, "a solo execution has none");
}

/// The gate and a member are always written together, so no snapshot may show them apart.
pub(super) async fn a_gate_is_read_at_the_moment_of_its_members(store: &Store<'_>) {
    let flow_id = store.flow(GateState::Open).await;
    let member = store.member(flow_id).await.id;
    let (key, gate) = (RecordKey::Execution(member), RecordKey::Gate(flow_id));
    let load = Load::records(member.partition(), [key.clone()]).with_gates();
    let (backend, names) = (store.backend(), (key.clone(), gate.clone()));
    let reader = tokio::spawn(async move {
        loop {
            let snapshot = backend
                .load(vec![load.clone()])
                .await
                .expect("the store answers")
                .remove(0);
            let [member, gate] = [&names.0, &names.1].map(|key| snapshot.version(key).map(|version| version.counter));
            assert_eq!(member, gate);
            if member >= Some(100) {
                return;
            }
            tokio::task::yield_now().await;
        }
    });
    for _ in 1..100 {
        let snapshot = store
            .load(Load::records(member.partition(), [key.clone(), gate.clone()]))
            .await;
        let mut transaction = store.transaction(member.partition());
        for (record, version) in snapshot.records.into_values() {
            transaction.puts.push(Put::replace(record.clone(), (&record, version)));
        }
        store.commit(transaction).await;
        tokio::task::yield_now().await;
    }
    reader.await.expect("every snapshot is whole");
}

async fn both_at(store: &Store<'_>, pair: &[Execution; 2], priority: u16) -> Transaction {
    let mut transaction = store.transaction(store.home());
    for execution in pair {
        let (execution, version) = store.versioned(execution.id).await;
        let record = Record::from(Execution { priority, ..execution });
        transaction.puts.push(Put::unlisted(record, Some(version)));
    }
    transaction
}
