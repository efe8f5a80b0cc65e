//! Copies of a store, and a store that goes back to one.

use ff_core::id::FlowId;
use ff_core::partition::Partition;
use ff_core::record::{Gate, GateState, RecordKey};
use uuid::Uuid;

use super::*;
use crate::hint::Hint;
use crate::transaction::{Generation, Put, Tag, Version};

const START: Timestamp = Timestamp::from_millis(1_000);
const SECOND: Duration = Duration::from_secs(1);

fn store() -> MemoryBackend {
    MemoryBackend::new(START, PartitionCounts::default())
}

fn flow(number: u128) -> FlowId {
    FlowId::from_uuid(Uuid::from_u128(number))
}

async fn create(store: &MemoryBackend, number: u128) {
    let state = GateState::Open;
    let gate = Gate {
        flow_id: flow(number),
        state,
    };
    let mut transaction = Transaction::new(Partition::flow(0), Tag(7));
    transaction.puts.push(Put::create(gate.into()));
    store.commit(vec![transaction]).await.remove(0).unwrap();
}

async fn version(store: &MemoryBackend, number: u128) -> Option<Version> {
    let key = RecordKey::Gate(flow(number));
    let load = Load::records(Partition::flow(0), [key.clone()]);
    store.load(vec![load]).await.unwrap()[0].version(&key)
}

async fn generation(store: &MemoryBackend) -> Generation {
    let load = Load::records(Partition::flow(0), []);
    store.load(vec![load]).await.unwrap()[0].generation
}

#[tokio::test]
async fn a_fork_has_everything_and_then_goes_its_own_way() {
    let store = store();
    create(&store, 1).await;
    let fork = store.fork();
    assert_eq!((version(&fork, 1).await, fork.now()), (version(&store, 1).await, START));
    create(&store, 2).await;
    create(&fork, 3).await;
    fork.advance(SECOND);
    assert_eq!((version(&fork, 2).await, version(&store, 3).await), (None, None));
    assert_eq!((store.now(), fork.now()), (START, START + SECOND));
}

#[tokio::test]
async fn a_fork_has_listeners_of_its_own() {
    let store = store();
    let (fork, mut of_store) = (store.fork(), store.hints());
    let mut of_fork = fork.hints();
    fork.call(|fork| fork.hints.note(Hint::Setting("key".to_owned())));
    let heard = (of_fork.try_next(), of_store.try_next());
    assert_eq!(heard, (Some(Hint::Setting("key".to_owned())), None));
}

#[tokio::test]
async fn a_restored_store_has_lost_what_came_later_but_no_time() {
    let store = store();
    create(&store, 1).await;
    let kept = store.fork();
    store.advance(SECOND);
    create(&store, 2).await;
    store.restore(&kept);
    assert_eq!((version(&store, 2).await, store.now()), (None, START + SECOND));
    assert_eq!(version(&store, 1).await, version(&kept, 1).await);
    create(&store, 3).await;
    assert_eq!(version(&kept, 3).await, None, "it can be restored again");
}

#[tokio::test]
async fn a_restored_store_takes_the_later_time_of_the_other() {
    let (store, kept) = (store(), store().fork());
    kept.advance(SECOND);
    store.restore(&kept);
    assert_eq!(store.now(), START + SECOND);
}

#[tokio::test]
async fn every_restoration_begins_a_generation_of_its_own() {
    let store = store();
    let kept = store.fork();
    let mut seen = vec![generation(&store).await];
    for _ in 0..3 {
        store.restore(&kept);
        create(&store, 1).await;
        seen.push(generation(&store).await);
    }
    assert_eq!(seen, [0, 1, 2, 3].map(Generation));
}

#[tokio::test]
async fn who_listens_to_a_restored_store_learns_that_hints_were_missed_and_listens_on() {
    let store = store();
    let (kept, mut hints) = (store.fork(), store.hints());
    store.restore(&kept);
    assert_eq!((hints.try_next(), hints.try_next()), (Some(Hint::Missed), None));
    store.call(|store| store.hints.note(Hint::Missed));
    assert_eq!(hints.try_next(), Some(Hint::Missed));
}
