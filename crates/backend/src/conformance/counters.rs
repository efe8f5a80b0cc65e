//! Counters move without conflicting, and only with their transaction.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::id::FlowId;
use ff_core::record::{CounterKey, Execution, FlowCounter, GroupCounter, Record};
use ff_core::state::PublicState;

use super::build::{Store, conflict};
use crate::load::Load;
use crate::transaction::{Transaction, Version};

pub(super) async fn counters_move_with_their_commit_and_the_reply_says_where_they_stand(store: &Store<'_>) {
    let (members, open) = counters(store);
    let committed = moving(store, vec![(members, 3), (open, 2)]).await;
    assert_eq!(sorted(committed), sorted(vec![(members, 3), (open, 2)]));
    let committed = moving(store, vec![(members, -5), (open, 1)]).await;
    assert_eq!(sorted(committed), sorted(vec![(members, -2), (open, 3)]));
    assert_eq!(values(store, &[members, open]).await, [-2, 3]);
}

/// It must be in the snapshot: that there are counters in it is what binds a commit to the generation.
pub(super) async fn a_counter_that_never_moved_is_answered_as_zero(store: &Store<'_>) {
    let (members, open) = counters(store);
    let load = Load::records(store.home(), []).with_counters([members, open]);
    let counted = store.load(load).await.counters;
    assert_eq!(counted, BTreeMap::from([(members, 0), (open, 0)]));
}

pub(super) async fn every_counter_counts_for_itself(store: &Store<'_>) {
    let flows = [FlowId::from_uuid(store.uuid()), FlowId::from_uuid(store.uuid())];
    let executions = [store.id(), store.id()];
    let of_flows = flows
        .iter()
        .flat_map(|flow| FlowCounter::all().map(|counter| CounterKey::Flow(*flow, counter)));
    let of_groups = executions
        .iter()
        .flat_map(|id| GroupCounter::ALL.map(|counter| CounterKey::Group(*id, counter)));
    let of_signals = executions.iter().map(|id| CounterKey::BufferedSignals(*id));
    let keys: Vec<CounterKey> = of_flows.chain(of_groups).chain(of_signals).collect();
    let moves: Vec<(CounterKey, i64)> = keys.iter().copied().zip(1..).collect();
    assert_eq!(sorted(moving(store, moves.clone()).await), sorted(moves.clone()));
    let wanted: Vec<i64> = moves.iter().map(|(_, by)| *by).collect();
    assert_eq!(values(store, &keys).await, wanted);
}

pub(super) async fn counters_of_a_refused_commit_stay(store: &Store<'_>) {
    let (members, _) = counters(store);
    let execution = store.submit(store.command()).await;
    let stale = Version {
        counter: 3,
        tag: store.tag(),
    };
    let increments = vec![(members, 1)];
    conflict(
        store
            .try_commit(Transaction {
                increments,
                ..store.replacement(&execution, stale)
            })
            .await,
    );
    assert_eq!(values(store, &[members]).await, [0]);
}

/// Nobody conflicts with anybody: each writes a record of its own.
pub(super) async fn moves_of_many_callers_add_up(store: &Store<'_>) {
    let counter = CounterKey::Flow(
        FlowId::from_uuid(store.uuid()),
        FlowCounter::State(PublicState::Completed),
    );
    let template = store.submit(store.command()).await;
    let transaction = || {
        let record = Record::from(Execution {
            id: store.id(),
            ..template.clone()
        });
        Transaction {
            increments: vec![(counter, 1)],
            ..store.creation(store.home(), [record])
        }
    };
    let callers: Vec<_> = (0..8)
        .map(|_| {
            let (backend, batch) = (store.backend(), (0..25).map(|_| transaction()).collect::<Vec<_>>());
            tokio::spawn(async move {
                let mut seen = Vec::new();
                for transaction in batch {
                    let committed = backend
                        .commit(vec![transaction])
                        .await
                        .remove(0)
                        .expect("the commit lands");
                    seen.push(committed.counters[0].1);
                }
                seen
            })
        })
        .collect();
    let mut seen = BTreeSet::new();
    for caller in callers {
        seen.extend(caller.await.expect("the store answers"));
    }
    assert_eq!(seen, (1..=200).collect(), "every value was answered to one caller");
    assert_eq!(values(store, &[counter]).await, [200]);
}

fn counters(store: &Store<'_>) -> (CounterKey, CounterKey) {
    let flow = FlowId::from_uuid(store.uuid());
    (
        CounterKey::Flow(flow, FlowCounter::Members),
        CounterKey::Flow(flow, FlowCounter::Open),
    )
}

async fn moving(store: &Store<'_>, increments: Vec<(CounterKey, i64)>) -> Vec<(CounterKey, i64)> {
    let execution = store.submit(store.command()).await;
    let (_, version) = store.versioned(execution.id).await;
    store
        .commit(Transaction {
            increments,
            ..store.replacement(&execution, version)
        })
        .await
        .counters
}

async fn values(store: &Store<'_>, keys: &[CounterKey]) -> Vec<i64> {
    let snapshot = store
        .load(Load::records(store.home(), []).with_counters(keys.iter().copied()))
        .await;
    keys.iter().map(|key| snapshot.counter(*key)).collect()
}

fn sorted(mut counters: Vec<(CounterKey, i64)>) -> Vec<(CounterKey, i64)> {
    counters.sort_unstable();
    counters
}
