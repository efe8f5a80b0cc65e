//! Flows that this process created: the end of a member needs no read to find out what it lets go.
//!
//! What is remembered may be out of date, and is believed for nothing but a commit that finds out:
//!
//! * The edges out of a member are all there are as long as the flow stands as remembered: every new edge writes it. They are
//!   remembered until the member ends; what becomes of them after that, in a second life of it, is not.
//! * What waits for it is written, over the version remembered, or left to be looked at.
//! * Counters that others have moved since make a verdict late and never wrong, as long as the store has lost nothing: the
//!   commit is of the generation in which the flow was created.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_backend::load::Snapshot;
use ff_backend::transaction::{Committed, Generation, Transaction, Version};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::record::{CounterKey, Edge, EdgeState, Execution, Flow, Record};
use ff_core::time::Timestamp;

use crate::snapshots::{add_rows, group_counters};

/// Members remembered at the same time; the flows created first are forgotten first.
const MEMBERS_MAX: usize = 32_768;

/// What is remembered around a member.
pub(crate) enum Around {
    /// The flow, all edges out of the member, what waits for it and the counters of that.
    Known(Snapshot, Vec<Edge>),
    /// More edges lead out of it than were asked for.
    TooMany,
}

/// Flows by id.
#[derive(Default)]
pub(crate) struct FlowCache {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    flows: HashMap<FlowId, Graph>,
    /// In the order of their creation; those forgotten since may still stand here.
    by_age: VecDeque<FlowId>,
    members: usize,
}

struct Graph {
    flow: (Flow, Version),
    generation: Generation,
    /// Members that have not ended.
    members: HashMap<ExecutionId, Member>,
    /// Those of the groups of its members that were moved.
    counters: HashMap<CounterKey, i64>,
}

struct Member {
    execution: (Execution, Version),
    outbound: Vec<(Edge, Version)>,
}

impl FlowCache {
    /// Takes over what a transaction wrote.
    pub(crate) fn note(&self, transaction: &Transaction, committed: &Committed) {
        let mut inner = self.inner();
        inner.note_created(transaction);
        let Some(id) = transaction.puts.iter().find_map(|put| flow_of(&put.record)) else {
            return;
        };
        let Some(mut graph) = inner.take(id) else { return };
        if graph.note(transaction, committed) {
            inner.keep(id, graph);
        }
    }

    /// What the end of a member with at most `most` edges out of it is decided from. `None`: not all of it is remembered.
    pub(crate) fn around(&self, member: (FlowId, ExecutionId), most: usize, now: Timestamp) -> Option<Around> {
        let (flow, upstream) = member;
        let inner = self.inner();
        let graph = inner.flows.get(&flow)?;
        let edges = &graph.members.get(&upstream)?.outbound;
        if edges.len() > most {
            return Some(Around::TooMany);
        }
        let mut snapshot = Snapshot::empty(upstream.partition(), now);
        snapshot.generation = graph.generation;
        add_rows(&mut snapshot, std::slice::from_ref(&graph.flow));
        add_rows(&mut snapshot, edges);
        for (edge, _) in edges {
            match edge.state {
                EdgeState::Staged => {}
                EdgeState::Unresolved => graph.add_child(edge.downstream, &mut snapshot)?,
                EdgeState::Satisfied | EdgeState::Failed => return None,
            }
        }
        let edges = edges.iter().map(|(edge, _)| edge.clone()).collect();
        Some(Around::Known(snapshot, edges))
    }

    /// Forgets a flow of which something turned out to be out of date.
    pub(crate) fn forget(&self, id: FlowId) {
        self.inner().take(id);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Begins to remember a flow. One that was created in an unknown generation is not worth it.
    fn note_created(&mut self, transaction: &Transaction) {
        let Some(generation) = transaction.generation else {
            return;
        };
        for put in transaction.puts.iter().filter(|put| put.expected.is_none()) {
            if let Record::Flow(flow) = &put.record {
                let graph = Graph {
                    flow: ((**flow).clone(), put.version(transaction.tag)),
                    generation,
                    members: HashMap::new(),
                    counters: HashMap::new(),
                };
                // One of the same name may have been deleted by others.
                self.take(flow.id);
                self.by_age.push_back(flow.id);
                self.keep(flow.id, graph);
            }
        }
    }

    fn take(&mut self, id: FlowId) -> Option<Graph> {
        let graph = self.flows.remove(&id)?;
        self.members -= graph.members.len();
        Some(graph)
    }

    fn keep(&mut self, id: FlowId, graph: Graph) {
        self.members += graph.members.len();
        self.flows.insert(id, graph);
        while self.members > MEMBERS_MAX || self.by_age.len() > MEMBERS_MAX {
            let Some(oldest) = self.by_age.pop_front() else { return };
            self.take(oldest);
        }
    }
}

impl Graph {
    /// Takes over what a transaction wrote; whether the flow is still worth remembering.
    fn note(&mut self, transaction: &Transaction, committed: &Committed) -> bool {
        for put in &transaction.puts {
            let version = put.version(transaction.tag);
            match &put.record {
                Record::Flow(flow) if flow.id == self.flow.0.id => {
                    if put.expected.is_some_and(|expected| expected != self.flow.1) {
                        return false;
                    }
                    self.flow = ((**flow).clone(), version);
                }
                Record::Execution(execution) if execution.definition.flow == Some(self.flow.0.id) => {
                    self.note_member(execution, version, put.expected.is_none());
                }
                _ => {}
            }
        }
        for put in &transaction.puts {
            if let Record::Edge(edge) = &put.record {
                self.note_edge(edge, put.version(transaction.tag));
            }
        }
        let groups = committed.counters.iter();
        let groups = groups.filter(|(key, _)| matches!(key, CounterKey::Group(..)));
        self.counters.extend(groups.copied());
        let is_building = self.flow.0.opened_at.is_none();
        is_building || !self.members.is_empty()
    }

    fn note_member(&mut self, execution: &Execution, version: Version, is_new: bool) {
        if execution.is_terminal() {
            self.members.remove(&execution.id);
            return;
        }
        let written = (execution.clone(), version);
        match self.members.get_mut(&execution.id) {
            Some(member) => member.execution = written,
            // One that comes back has edges nobody here has seen.
            None if is_new => {
                let member = Member {
                    execution: written,
                    outbound: Vec::new(),
                };
                self.members.insert(execution.id, member);
            }
            None => {}
        }
    }

    fn note_edge(&mut self, edge: &Edge, version: Version) {
        let Some(upstream) = self.members.get_mut(&edge.upstream) else {
            return;
        };
        let written = (edge.clone(), version);
        match upstream.outbound.iter_mut().find(|(known, _)| known.id == edge.id) {
            Some(known) => *known = written,
            None => upstream.outbound.push(written),
        }
    }

    fn add_child(&self, id: ExecutionId, snapshot: &mut Snapshot) -> Option<()> {
        add_rows(snapshot, std::slice::from_ref(&self.members.get(&id)?.execution));
        let counters = group_counters(id).map(|key| (key, self.counters.get(&key).copied().unwrap_or(0)));
        snapshot.counters.extend(counters);
        Some(())
    }
}

fn flow_of(record: &Record) -> Option<FlowId> {
    match record {
        Record::Flow(flow) => Some(flow.id),
        Record::Edge(edge) => Some(edge.flow_id),
        Record::Execution(execution) => execution.definition.flow,
        _ => None,
    }
}
