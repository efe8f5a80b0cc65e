//! Records of every kind that is listed, written, replaced and deleted at random, with few values for whatever they are listed by.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ff_core::id::{BudgetId, EdgeId, ExecutionId, FlowId, QuotaPolicyId, SignalId, WaitpointId};
use ff_core::machine::index::{Index, Order};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::{Family, Partition};
use ff_core::policy::{Policy, RoutingRequirements};
use ff_core::record::{
    Attempt, Cause, Definition, Edge, EdgeState, Execution, Flow, Hold, Record, RecordKey, Signal, Tags,
};
use ff_core::time::{Duration, Timestamp};

use super::super::build::{Random, Store, all_entries, attempt, edge, flow, phase, signal, waitpoint};
use super::super::reserve_match::capabilities;
use crate::transaction::{Delete, Put, Transaction, Version};

/// Partitions that are written to.
const PARTITIONS: usize = 3;

/// What was written, and what it is made of.
pub(super) struct World<'s> {
    store: &'s Store<'s>,
    random: Random,
    template: Execution,
    pub(super) partitions: Vec<Partition>,
    flows: Vec<FlowId>,
    budgets: [BudgetId; 2],
    quota: QuotaPolicyId,
    waitpoints: [WaitpointId; 2],
    /// Whose parts are written, and whose ends edges have.
    owners: Vec<ExecutionId>,
    pub(super) records: BTreeMap<RecordKey, (Partition, Record, Version)>,
    /// Every list that anything was ever in.
    pub(super) lists: BTreeSet<Index>,
}

/// What a list holds, in its order.
pub(super) type Places = BTreeMap<Order, (Partition, Record, Version)>;

impl<'s> World<'s> {
    pub(super) async fn new(store: &'s Store<'s>, seed: u64) -> Self {
        let partitions: Vec<Partition> = store.counts().all(Family::Flow).take(PARTITIONS).collect();
        let template = store.submit(store.command()).await;
        let (_, version) = store.versioned(template.id).await;
        let owners = partitions
            .iter()
            .chain(&partitions)
            .map(|partition| store.id_in(*partition));
        let flows = std::iter::repeat_with(|| FlowId::from_uuid(store.uuid()));
        let mut world = Self {
            store,
            random: Random::new(seed << 40),
            flows: flows
                .filter(|flow_id| partitions.contains(&store.counts().of_flow(*flow_id)))
                .take(2)
                .collect(),
            budgets: [(); 2].map(|()| BudgetId::from_uuid(store.uuid())),
            quota: QuotaPolicyId::from_uuid(store.uuid()),
            waitpoints: [(); 2].map(|()| WaitpointId::from_uuid(store.uuid())),
            owners: owners.collect(),
            partitions,
            records: BTreeMap::new(),
            lists: BTreeSet::new(),
            template: template.clone(),
        };
        world.remember(store.home(), Record::from(template), version);
        world
    }

    /// One record is written, replaced or deleted.
    pub(super) async fn step(&mut self) {
        let (partition, before) = match self.random.below(2) {
            0 => (*self.random.pick(&self.partitions), None),
            _ => match self.some_record() {
                Some((partition, record, version)) => (partition, Some((record, version))),
                None => return,
            },
        };
        let mut transaction = self.store.transaction(partition);
        match &before {
            None => {
                let record = self.new_record(partition);
                let partition = self.home_of(&record).unwrap_or(partition);
                transaction = self.store.transaction(partition);
                transaction.puts.push(Put::create(record));
            }
            Some((record, version)) if self.random.below(8) == 0 => {
                transaction.deletes.push(Delete::of((record, *version)));
            }
            Some((record, version)) => {
                let after = self.changed(record);
                transaction.puts.push(Put::replace(after, (record, *version)));
            }
        }
        self.commit(transaction).await;
    }

    async fn commit(&mut self, transaction: Transaction) {
        self.store.commit(transaction.clone()).await;
        for delete in &transaction.deletes {
            self.records.remove(&delete.key);
        }
        for put in transaction.puts {
            let version = put.version(transaction.tag);
            self.remember(transaction.partition, put.record, version);
        }
    }

    fn remember(&mut self, partition: Partition, record: Record, version: Version) {
        self.lists.extend(all_entries(&record).map(|entry| entry.index));
        self.records.insert(record.key(), (partition, record, version));
    }

    fn some_record(&mut self) -> Option<(Partition, Record, Version)> {
        let all: Vec<&(Partition, Record, Version)> = self.records.values().collect();
        (!all.is_empty()).then(|| (*self.random.pick(&all)).clone())
    }

    /// The partition a record must be in, if it must.
    fn home_of(&self, record: &Record) -> Option<Partition> {
        match record {
            Record::Execution(execution) => Some(execution.id.partition()),
            Record::Flow(flow) => Some(self.store.counts().of_flow(flow.id)),
            _ => None,
        }
    }

    fn new_record(&mut self, partition: Partition) -> Record {
        let owner = self.owner_in(partition);
        match self.random.below(10) {
            0 => Record::from(self.new_edge(partition)),
            1 => Record::from(self.new_signal(owner)),
            2 => {
                let id = WaitpointId::from_uuid(self.store.uuid());
                Record::from(waitpoint(id, owner, Timestamp::MAX))
            }
            3 => {
                let index = self.attempt_index(owner);
                let attempt = attempt(self.store);
                Record::Attempt(owner, Box::new(Attempt { index, ..attempt }))
            }
            4 => Record::from(self.new_flow()),
            _ => Record::from(self.new_execution(partition)),
        }
    }

    /// A number of any length that no attempt of the execution has.
    fn attempt_index(&mut self, owner: ExecutionId) -> u32 {
        loop {
            let index = u32::try_from(self.random.below(1 << 32)).unwrap_or(0) >> self.random.below(32);
            if !self.records.contains_key(&RecordKey::Attempt(owner, index)) {
                return index;
            }
        }
    }

    fn new_execution(&mut self, partition: Partition) -> Execution {
        let flow = match self.random.below(3) {
            0 => Some(*self.random.pick(&self.flows)),
            _ => None,
        };
        let partition = flow.map_or(partition, |flow_id| self.store.counts().of_flow(flow_id));
        let budgets = self.random.place(3);
        let (lane, required, quota_policy_id) = match self.random.below(3) {
            0 => ("other:1%", &["eu", "gpu:2%"][..], Some(self.quota)),
            _ => ("default", &[][..], None),
        };
        let policy = Policy {
            budget_ids: self.budgets.iter().copied().take(budgets).collect(),
            quota_policy_id,
            routing_requirements: RoutingRequirements {
                required_capabilities: capabilities(required),
            },
            ..self.template.definition.policy.clone()
        };
        let created_at = self.template.definition.created_at + Duration::from_millis(self.random.below(20));
        let definition = Definition {
            namespace: self.namespace(),
            lane: LaneId::parse(lane).expect("a lane"),
            created_at,
            flow,
            policy,
            ..(*self.template.definition).clone()
        };
        let execution = Execution {
            id: self.store.id_in(partition),
            definition: Arc::new(definition),
            ..self.template.clone()
        };
        self.lived(&execution)
    }

    /// The execution at another point of its life.
    fn lived(&mut self, execution: &Execution) -> Execution {
        let [first, second] = self.budgets;
        let causes = [Cause::Budget(first), Cause::Budget(second), Cause::Quota(self.quota)];
        let cause = *self.random.pick(&causes);
        Execution {
            priority: u16::try_from(self.random.below(4)).unwrap_or(0),
            tags: Arc::new(self.tags()),
            hold: (self.random.below(8) == 0).then(|| Hold {
                since: Timestamp::from_millis(1),
                reason: None,
            }),
            phase: phase(self.store, self.random.below(6), cause, &self.template.phase),
            ..execution.clone()
        }
    }

    fn new_flow(&mut self) -> Flow {
        let ids = std::iter::repeat_with(|| FlowId::from_uuid(self.store.uuid()));
        let mut here = ids.filter(|id| self.partitions.contains(&self.store.counts().of_flow(*id)));
        let id = here.next().expect("some flow is here");
        let created_at = Timestamp::from_millis(self.random.below(5));
        Flow {
            namespace: self.namespace(),
            tags: Arc::new(self.tags()),
            ..flow(id, created_at)
        }
    }

    fn new_edge(&mut self, partition: Partition) -> Edge {
        let [upstream, downstream] = [self.owner_in(partition), self.owner_in(partition)];
        let id = EdgeId::from_uuid(self.store.uuid());
        edge(id, self.flows[0], (upstream, downstream), self.edge_state())
    }

    fn new_signal(&mut self, owner: ExecutionId) -> Signal {
        Signal {
            waitpoint_id: Some(*self.random.pick(&self.waitpoints)),
            buffered_after: (self.random.below(2) == 0).then_some(1),
            ..signal(SignalId::from_uuid(self.store.uuid()), owner)
        }
    }

    /// The record as somebody may replace it.
    fn changed(&mut self, record: &Record) -> Record {
        match record {
            Record::Execution(execution) => Record::from(self.lived(execution)),
            Record::Flow(flow) => Record::from(Flow {
                tags: Arc::new(self.tags()),
                ..(**flow).clone()
            }),
            Record::Edge(edge) => Record::from(Edge {
                state: self.edge_state(),
                ..(**edge).clone()
            }),
            other => other.clone(),
        }
    }

    fn owner_in(&mut self, partition: Partition) -> ExecutionId {
        let here = self.owners.iter().filter(|id| id.partition() == partition);
        *self.random.pick(&here.copied().collect::<Vec<_>>())
    }

    fn namespace(&mut self) -> Namespace {
        let names = ["default", "mine"].map(|name| Namespace::parse(name).expect("a namespace"));
        self.random.pick(&names).clone()
    }

    fn tags(&mut self) -> Tags {
        let count = self.random.place(3);
        let team = *self.random.pick(&["red", "reddish"]);
        let tags = [("team", team), ("größe", "a b:c%")].into_iter().take(count);
        tags.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    fn edge_state(&mut self) -> EdgeState {
        *self
            .random
            .pick(&[EdgeState::Staged, EdgeState::Unresolved, EdgeState::Satisfied])
    }

    /// What the facts say that a list holds in these partitions.
    pub(super) fn places(&self, index: &Index, partitions: &[Partition]) -> Places {
        let here = self
            .records
            .values()
            .filter(|(partition, ..)| partitions.contains(partition));
        let places = here.flat_map(|row| all_entries(&row.1).map(move |entry| (entry, row)));
        let wanted = places.filter(|(entry, _)| entry.index == *index);
        wanted.map(|(entry, row)| (entry.order, row.clone())).collect()
    }

    /// Some of the partitions. Their order, and that one is named twice, mean nothing.
    pub(super) fn some_partitions(&mut self) -> Vec<Partition> {
        let some = self.partitions.clone().into_iter().rev();
        let some: Vec<Partition> = some.filter(|_| self.random.below(3) > 0).collect();
        some.iter().chain(some.first()).copied().collect()
    }

    /// A place below `length`.
    pub(super) fn place(&mut self, length: usize) -> usize {
        self.random.place(length)
    }
}
