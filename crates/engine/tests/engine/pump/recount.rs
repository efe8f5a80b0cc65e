//! The audit counts again.

use std::sync::Arc;

use ff_backend::Backend;
use ff_backend::load::Load;
use ff_backend::memory::MemoryBackend;
use ff_backend::transaction::{Put, Tag, Transaction};
use ff_core::fabric::Fabric;
use ff_core::id::FlowId;
use ff_core::partition::{Family, PartitionCounts};
use ff_core::record::{CounterKey, FlowCounter, GroupCounter, RecordKey};
use ff_core::state::PublicState;
use ff_fabric_suite::Harness;
use uuid::Uuid;

use crate::differential::graph;
use crate::support::{EngineHarness, START};

#[tokio::test]
async fn counters_that_say_something_else_than_there_is_are_corrected() {
    let counts = PartitionCounts::default();
    let memory = Arc::new(MemoryBackend::new(START, counts));
    let clock = Arc::clone(&memory);
    let store = Arc::clone(&memory) as Arc<dyn Backend>;
    let harness = EngineHarness::over(store, move |by| clock.advance(by), |_| ());
    let flow_id = FlowId::from_uuid(Uuid::from_u128(7));
    let ids = harness
        .engine
        .create_flow_graph(graph(flow_id))
        .await
        .unwrap()
        .execution_ids;
    harness.settle().await;
    let exact = harness.engine.get_flow(flow_id).await.unwrap().counts;

    let (partition, key) = (counts.of_flow(flow_id), RecordKey::Flow(flow_id));
    let load = Load::records(partition, [key.clone()]);
    let (record, version) = memory.load(vec![load]).await.unwrap()[0].records[&key].clone();
    let mut drift = Transaction::new(partition, Tag(9));
    drift.puts.push(Put::unlisted(record, Some(version)));
    drift.increments = vec![
        (CounterKey::Flow(flow_id, FlowCounter::Open), 5),
        (CounterKey::Group(ids[3], GroupCounter::Failed), 1),
    ];
    memory.commit(vec![drift]).await.remove(0).unwrap();
    assert_ne!(harness.engine.get_flow(flow_id).await.unwrap().counts, exact);

    for _ in 0..counts.count(Family::Flow) {
        harness.engine.pump_audit().await.unwrap();
    }
    assert_eq!(harness.engine.repaired(), 2);
    assert_eq!(harness.engine.get_flow(flow_id).await.unwrap().counts, exact);
    harness.settle().await;
    let state = harness.engine.get_state(ids[3]).await.unwrap();
    assert_eq!(
        state.public_state,
        PublicState::WaitingChildren,
        "nothing has failed after all"
    );
}
