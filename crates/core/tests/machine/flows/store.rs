//! One flow partition in memory, with versions: a draft computed from an older copy of the store lands only if nothing it
//! wrote or guarded on has changed since.

use std::collections::BTreeMap;

use ff_core::id::{EdgeId, ExecutionId, FlowId};
use ff_core::machine::decided::{Nudge, Write};
use ff_core::machine::{Context, Draft, flow, group};
use ff_core::record::{
    CounterKey, Edge, Execution, Flow, FlowCounter, Gate, GateState, GroupCounter, Record, RecordKey,
};
use ff_core::state::public_state;
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

/// The flow every test is about.
pub(crate) const FLOW: FlowId = FlowId::from_uuid(Uuid::from_u128(0xF));

#[derive(Clone, Default)]
pub(crate) struct Store {
    records: BTreeMap<RecordKey, (Record, u64)>,
    counters: BTreeMap<CounterKey, i64>,
    nudges: BTreeMap<RecordKey, u64>,
    serial: u64,
    pub(crate) now: Timestamp,
}

/// A draft with the copy of the store it was computed from, and the nudge it answers.
pub(crate) struct Transaction {
    pub(crate) draft: Draft,
    pub(crate) from: Store,
    pub(crate) answers: Option<RecordKey>,
}

impl Transaction {
    /// A draft computed from `from` that answers no nudge.
    pub(crate) fn of(draft: Draft, from: Store) -> Self {
        let answers = None;
        Self { draft, from, answers }
    }
}

impl Store {
    pub(crate) fn wait(&mut self, duration: Duration) {
        self.now += duration;
    }

    fn version(&self, key: &RecordKey) -> Option<u64> {
        self.records.get(key).map(|(_, version)| *version)
    }

    /// Commits all of it or, with the key that is in the way, nothing.
    pub(crate) fn commit(&mut self, transaction: Transaction) -> Result<(), RecordKey> {
        let Transaction { draft, from, answers } = transaction;
        self.check(&draft, &from)?;
        self.serial += 1;
        for write in draft.writes {
            match write {
                Write::Put(record) | Write::Again(record) | Write::Create { record, .. } => {
                    self.records.insert(record.key(), (record, self.serial));
                }
                Write::Delete(key) => {
                    self.records.remove(&key);
                }
                Write::DeleteRemains(id) => {
                    self.counters
                        .retain(|key, _| !matches!(key, CounterKey::Group(owner, _) if *owner == id));
                }
            }
        }
        for (counter, by) in draft.increments {
            *self.counters.entry(counter).or_default() += by;
        }
        if let Some(key) = answers
            && self.nudges.get(&key) == from.nudges.get(&key)
        {
            self.nudges.remove(&key);
        }
        let heard = |nudge: &&Nudge| nudge.only_at_zero.is_none_or(|counter| self.counter(counter) == 0);
        let heard: Vec<_> = draft
            .nudges
            .iter()
            .filter(heard)
            .map(|nudge| nudge.key.clone())
            .collect();
        self.nudges.extend(heard.into_iter().map(|key| (key, self.serial)));
        Ok(())
    }

    fn check(&self, draft: &Draft, from: &Store) -> Result<(), RecordKey> {
        let mut written = Vec::new();
        for write in &draft.writes {
            let (key, expected) = match write {
                Write::Put(record) | Write::Again(record) => (record.key(), from.version(&record.key())),
                Write::Create { record, .. } => (record.key(), None),
                Write::Delete(key) => (key.clone(), from.version(key)),
                Write::DeleteRemains(_) => continue,
            };
            assert!(!written.contains(&key), "{key:?} is written twice");
            if self.version(&key) != expected {
                return Err(key);
            }
            written.push(key);
        }
        let puts = draft
            .writes
            .iter()
            .any(|write| matches!(write, Write::Put(_) | Write::Create { .. }));
        assert!(puts || draft.increments.is_empty(), "counters move beside no put");
        match draft.guards.iter().find(|key| self.version(key) != from.version(key)) {
            Some(key) => Err(key.clone()),
            None => Ok(()),
        }
    }

    pub(crate) fn counter(&self, key: CounterKey) -> i64 {
        self.counters.get(&key).copied().unwrap_or(0)
    }

    pub(crate) fn nudged(&self) -> impl Iterator<Item = &RecordKey> {
        self.nudges.keys()
    }

    pub(crate) fn execution(&self, id: ExecutionId) -> Execution {
        self.executions()
            .into_iter()
            .find(|execution| execution.id == id)
            .unwrap()
    }

    pub(crate) fn executions(&self) -> Vec<Execution> {
        let execution = |(record, _): &(Record, u64)| match record {
            Record::Execution(execution) => Some((**execution).clone()),
            _ => None,
        };
        self.records.values().filter_map(execution).collect()
    }

    pub(crate) fn edges(&self) -> Vec<Edge> {
        let edge = |(record, _): &(Record, u64)| match record {
            Record::Edge(edge) => Some((**edge).clone()),
            _ => None,
        };
        self.records.values().filter_map(edge).collect()
    }

    pub(crate) fn edge(&self, id: EdgeId) -> Option<Edge> {
        self.edges().into_iter().find(|edge| edge.id == id)
    }

    pub(crate) fn edges_from(&self, id: ExecutionId) -> Vec<Edge> {
        self.edges().into_iter().filter(|edge| edge.upstream == id).collect()
    }

    pub(crate) fn edges_into(&self, id: ExecutionId) -> Vec<Edge> {
        self.edges().into_iter().filter(|edge| edge.downstream == id).collect()
    }

    pub(crate) fn has(&self, key: &RecordKey) -> bool {
        self.records.contains_key(key)
    }

    pub(crate) fn flow(&self) -> Option<Flow> {
        match self.records.get(&RecordKey::Flow(FLOW)) {
            Some((Record::Flow(flow), _)) => Some((**flow).clone()),
            _ => None,
        }
    }

    pub(crate) fn gate(&self) -> Option<GateState> {
        match self.records.get(&RecordKey::Gate(FLOW)) {
            Some((Record::Gate(Gate { state, .. }), _)) => Some(*state),
            _ => None,
        }
    }

    pub(crate) fn context(&self) -> Context {
        Context {
            gate: self.gate(),
            ..Context::engine(self.now)
        }
    }

    pub(crate) fn flow_counts(&self) -> flow::Counts {
        flow::Counts::read(|counter| self.counter(CounterKey::Flow(FLOW, counter)))
    }

    pub(crate) fn group_counts(&self, child: ExecutionId) -> group::Counts {
        group::Counts::read(|counter| self.counter(CounterKey::Group(child, counter)))
    }

    /// Every counter is what counting the records again gives.
    pub(crate) fn assert_counters(&self) {
        let edges = self.edges();
        for execution in self.executions() {
            let inbound: Vec<_> = edges.iter().filter(|edge| edge.downstream == execution.id).collect();
            let own = |counter| CounterKey::Group(execution.id, counter);
            for counter in GroupCounter::ALL {
                let counted = inbound.iter().filter(|edge| match edge.state.counter(edge.downstream) {
                    Some(_) if counter == GroupCounter::Applied => true,
                    of_state => of_state == Some(own(counter)),
                });
                let counted = i64::try_from(counted.count()).unwrap();
                assert_eq!(self.counter(own(counter)), counted, "{counter:?} of {}", execution.id);
            }
        }
        let states: Vec<_> = self.executions().iter().map(public_state).collect();
        for counter in FlowCounter::all() {
            let counted = states.iter().filter(|state| match counter {
                FlowCounter::Members => true,
                FlowCounter::Open => !state.is_terminal(),
                FlowCounter::State(of) => of == **state,
            });
            let counted = i64::try_from(counted.count()).unwrap();
            assert_eq!(
                self.counter(CounterKey::Flow(FLOW, counter)),
                counted,
                "{counter:?} of the flow"
            );
        }
    }
}
