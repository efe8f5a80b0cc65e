//! The counters of flows and of groups equal a recount.

use std::collections::BTreeMap;

use ff_backend::load::Load;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::partition::Partition;
use ff_core::record::{CounterKey, EdgeState, FlowCounter, GroupCounter};
use ff_core::state::public_state;

use super::mirror::{Changes, Mirror};
use super::watch::Store;
use super::{Holds, hold};

/// Recounts whatever a transaction moved.
pub(crate) fn check(mirror: &Mirror, store: &Store, changes: &Changes) -> Holds {
    changes
        .flows
        .iter()
        .try_for_each(|flow| flow_adds_up(mirror, store, *flow))?;
    changes
        .groups
        .iter()
        .try_for_each(|id| group_adds_up(mirror, store, *id))
}

/// Recounts everything.
pub(crate) fn check_all(mirror: &Mirror, store: &Store) -> Holds {
    mirror
        .flows
        .keys()
        .try_for_each(|flow| flow_adds_up(mirror, store, *flow))?;
    mirror
        .inbound
        .keys()
        .try_for_each(|id| group_adds_up(mirror, store, *id))
}

fn flow_adds_up(mirror: &Mirror, store: &Store, flow: FlowId) -> Holds {
    if !mirror.flows.contains_key(&flow) {
        return Ok(());
    }
    let mut expected: BTreeMap<FlowCounter, i64> = FlowCounter::all().map(|counter| (counter, 0)).collect();
    for member in mirror.members_of(flow) {
        let state = public_state(member);
        let open = (!state.is_terminal()).then_some(FlowCounter::Open);
        for counter in [FlowCounter::Members, FlowCounter::State(state)]
            .into_iter()
            .chain(open)
        {
            *expected.entry(counter).or_default() += 1;
        }
    }
    let expected = expected
        .into_iter()
        .map(|(counter, count)| (CounterKey::Flow(flow, counter), count));
    equal(store, store.counts.of_flow(flow), expected.collect())
}

fn group_adds_up(mirror: &Mirror, store: &Store, downstream: ExecutionId) -> Holds {
    let deleting = |flow: &FlowId| mirror.flows.get(flow).is_none_or(|flow| flow.deleting);
    let child = mirror.executions.get(&downstream);
    let counted = child.filter(|child| !child.definition.flow.as_ref().is_none_or(deleting));
    if counted.is_none() {
        // Edges go with their upstream, one page at a time, when the whole flow goes.
        return Ok(());
    }
    let mut expected: BTreeMap<GroupCounter, i64> = GroupCounter::ALL.map(|counter| (counter, 0)).into();
    for edge in mirror.edges_into(downstream) {
        let state = match edge.state {
            EdgeState::Staged => continue,
            EdgeState::Unresolved => GroupCounter::Unresolved,
            EdgeState::Satisfied => GroupCounter::Satisfied,
            EdgeState::Failed => GroupCounter::Failed,
        };
        for counter in [GroupCounter::Applied, state] {
            *expected.entry(counter).or_default() += 1;
        }
    }
    let expected = expected
        .into_iter()
        .map(|(counter, count)| (CounterKey::Group(downstream, counter), count));
    equal(store, downstream.partition(), expected.collect())
}

fn equal(store: &Store, partition: Partition, expected: Vec<(CounterKey, i64)>) -> Holds {
    let load = Load::records(partition, []).with_counters(expected.iter().map(|(key, _)| *key));
    let snapshot = store.load(load);
    for (key, count) in expected {
        let stored = snapshot.counter(key);
        hold(stored == count, "counters equal a recount", || {
            format!("{key:?} is {stored}, a recount says {count}")
        })?;
    }
    Ok(())
}
