//! The records of the store as its landed writes made them: what the invariants are about.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ff_backend::transaction::Transaction;
use ff_core::id::{BudgetId, EdgeId, ExecutionId, FlowId, QuotaPolicyId};
use ff_core::machine::index::{Index, entries};
use ff_core::machine::steps;
use ff_core::name::{Dimension, StepKey};
use ff_core::partition::Partition;
use ff_core::record::{CounterKey, Edge, Execution, Flow, GateState, HistoryLine, Record, RecordKey, Step};
use ff_core::time::Timestamp;

use super::requests::Deeds;
use super::slots::SlotKey;
use super::usage::Costs;

/// The store, as far as invariants care. A clone is the store at a moment.
#[derive(Clone, Default)]
pub(crate) struct Mirror {
    pub(crate) executions: BTreeMap<ExecutionId, Arc<Execution>>,
    pub(crate) flows: BTreeMap<FlowId, Arc<Flow>>,
    pub(crate) gates: BTreeMap<FlowId, GateState>,
    pub(crate) edges: BTreeMap<EdgeId, Arc<Edge>>,
    /// Every list that anything was ever in.
    pub(crate) lists: BTreeSet<Index>,
    /// Members by flow.
    pub(crate) members: BTreeMap<FlowId, BTreeSet<ExecutionId>>,
    /// Inbound edges by downstream.
    pub(crate) inbound: BTreeMap<ExecutionId, BTreeSet<EdgeId>>,
    /// Slots that are held.
    pub(crate) slots: BTreeMap<SlotKey, ExecutionId>,
    /// Policies that were ever deleted: whoever was admitted then has no slot, also if a failover brings the policy back.
    pub(crate) deleted_policies: BTreeSet<QuotaPolicyId>,
    /// Budgets that were deleted: they count nothing.
    pub(crate) deleted_budgets: BTreeSet<BudgetId>,
    /// Usage effects that counted at their budget.
    pub(crate) counted: BTreeSet<(BudgetId, String)>,
    /// Receipts of usage reports that counted, and when.
    pub(crate) receipts: BTreeMap<u64, Timestamp>,
    /// What the receipts of each budget add up to.
    pub(crate) spent: BTreeMap<BudgetId, u64>,
    /// How much was told of every partition.
    pub(crate) told: BTreeMap<Partition, usize>,
    /// What requests did.
    pub(crate) deeds: Deeds,
    /// Usage effects that ever stood in an outbox.
    pub(crate) owed: BTreeSet<(BudgetId, String)>,
    /// What was reported since the last reset on request.
    pub(crate) usage: BTreeMap<BudgetId, BTreeMap<Dimension, u64>>,
    /// Steps by execution and name, forgotten ones too.
    pub(crate) steps: BTreeMap<ExecutionId, BTreeMap<StepKey, Arc<Step>>>,
    /// Everything that was ever recorded of an execution, by its place.
    pub(crate) places: BTreeMap<ExecutionId, BTreeMap<u64, Arc<Step>>>,
    /// How often the store has forgotten its last writes.
    pub(crate) failovers: u64,
    /// What steps cost, and what of it budgets have counted.
    pub(crate) costs: Costs,
}

/// What one transaction did.
#[derive(Default)]
pub(crate) struct Changes {
    pub(crate) executions: Vec<Transition<Execution>>,
    pub(crate) edges: Vec<Transition<Edge>>,
    pub(crate) flow_records: Vec<Transition<Flow>>,
    pub(crate) steps: Vec<Transition<Step>>,
    /// Flows whose members or counters moved.
    pub(crate) flows: BTreeSet<FlowId>,
    /// Downstreams whose edges or counters moved.
    pub(crate) groups: BTreeSet<ExecutionId>,
    /// What happened, in words.
    pub(crate) history: Vec<HistoryLine>,
    pub(crate) at: Timestamp,
}

/// One record before and after; `None`: it was not there.
pub(crate) struct Transition<R> {
    pub(crate) before: Option<Arc<R>>,
    pub(crate) after: Option<Arc<R>>,
}

impl Mirror {
    /// Takes a landed transaction over.
    pub(crate) fn apply(&mut self, transaction: Transaction, at: Timestamp) -> Changes {
        let mut changes = Changes {
            at,
            history: transaction.history,
            ..Changes::default()
        };
        for (counter, _) in &transaction.increments {
            match counter {
                CounterKey::Flow(flow, _) => changes.flows.extend([*flow]),
                CounterKey::Group(downstream, _) => changes.groups.extend([*downstream]),
                CounterKey::BufferedSignals(_) => {}
            }
        }
        for put in transaction.puts {
            self.lists
                .extend(entries(&put.record).into_iter().map(|entry| entry.index));
            self.put(put.record, &mut changes);
        }
        for delete in transaction.deletes {
            self.delete(&delete.key, &mut changes);
        }
        changes
    }

    fn put(&mut self, record: Record, changes: &mut Changes) {
        match record {
            Record::Execution(execution) => self.replace(*execution, changes),
            Record::Edge(edge) => self.put_edge(*edge, changes),
            Record::Flow(flow) => {
                let after: Arc<Flow> = Arc::from(flow);
                changes.flows.insert(after.id);
                changes.flow_records.push(Transition {
                    before: self.flows.insert(after.id, Arc::clone(&after)),
                    after: Some(after),
                });
            }
            Record::Gate(gate) => {
                self.gates.insert(gate.flow_id, gate.state);
            }
            Record::Attempt(..)
            | Record::Waitpoint(_)
            | Record::Signal(_)
            | Record::SignalKey(_)
            | Record::SubmissionKey(_) => {}
            Record::Step(step) => self.put_step(*step, changes),
        }
    }

    /// Takes over an execution as it is now.
    pub(crate) fn replace(&mut self, execution: Execution, changes: &mut Changes) {
        let after = Arc::new(execution);
        if let Some(flow) = after.definition.flow {
            changes.flows.insert(flow);
            self.members.entry(flow).or_default().insert(after.id);
        }
        changes.executions.push(Transition {
            before: self.executions.insert(after.id, Arc::clone(&after)),
            after: Some(after),
        });
    }

    fn put_step(&mut self, step: Step, changes: &mut Changes) {
        let after = Arc::new(step);
        let steps = self.steps.entry(after.execution_id).or_default();
        if steps.get(&after.key) == Some(&after) {
            // Somebody else's writing that makes others conflict, and changes nothing.
            return;
        }
        changes.steps.push(Transition {
            before: steps.insert(after.key.clone(), Arc::clone(&after)),
            after: Some(after),
        });
    }

    fn put_edge(&mut self, edge: Edge, changes: &mut Changes) {
        changes.groups.insert(edge.downstream);
        self.inbound.entry(edge.downstream).or_default().insert(edge.id);
        let after = Arc::new(edge);
        changes.edges.push(Transition {
            before: self.edges.insert(after.id, Arc::clone(&after)),
            after: Some(after),
        });
    }

    fn delete(&mut self, key: &RecordKey, changes: &mut Changes) {
        match key {
            RecordKey::Execution(id) => self.delete_execution(*id, changes),
            RecordKey::Flow(id) => {
                self.members.remove(id);
                changes.flow_records.push(Transition {
                    before: self.flows.remove(id),
                    after: None,
                });
            }
            RecordKey::Gate(id) => {
                self.gates.remove(id);
            }
            RecordKey::Edge(id) => {
                if let Some(edge) = self.edges.remove(id) {
                    self.inbound.entry(edge.downstream).or_default().remove(id);
                    changes.groups.insert(edge.downstream);
                    changes.edges.push(Transition {
                        before: Some(edge),
                        after: None,
                    });
                }
            }
            RecordKey::Step(id, key) => {
                if let Some(step) = self.steps.get_mut(id).and_then(|steps| steps.remove(key)) {
                    changes.steps.push(Transition {
                        before: Some(step),
                        after: None,
                    });
                }
            }
            _ => {}
        }
    }

    fn delete_execution(&mut self, id: ExecutionId, changes: &mut Changes) {
        let Some(before) = self.executions.remove(&id) else {
            return;
        };
        self.places.remove(&id);
        if let Some(members) = before.definition.flow.and_then(|flow| self.members.get_mut(&flow)) {
            members.remove(&id);
        }
        changes.flows.extend(before.definition.flow);
        changes.executions.push(Transition {
            before: Some(before),
            after: None,
        });
    }

    /// Members of a flow that are there.
    pub(crate) fn members_of(&self, flow: FlowId) -> impl Iterator<Item = &Execution> {
        let members = self.members.get(&flow).into_iter().flatten();
        members.filter_map(|id| self.executions.get(id)).map(Arc::as_ref)
    }

    /// Whether a step counts as recorded, as what it started stands now.
    pub(crate) fn remembers(&self, execution: &Execution, step: &Step) -> bool {
        let child = step.child.and_then(|child| self.executions.get(&child));
        steps::is_remembered(&execution.steps, step, child.map(Arc::as_ref))
    }

    /// The steps of an execution that no replay has forgotten, in their order.
    pub(crate) fn live_steps(&self, execution: &Execution) -> Vec<&Step> {
        let steps = self.steps.get(&execution.id).into_iter().flat_map(BTreeMap::values);
        let is_live = |step: &&Step| !execution.steps.has_forgotten(step);
        let mut live: Vec<&Step> = steps.map(Arc::as_ref).filter(is_live).collect();
        live.sort_unstable_by_key(|step| step.seq);
        live
    }

    /// Edges into an execution.
    pub(crate) fn edges_into(&self, downstream: ExecutionId) -> impl Iterator<Item = &Edge> {
        let inbound = self.inbound.get(&downstream).into_iter().flatten();
        inbound.filter_map(|id| self.edges.get(id)).map(Arc::as_ref)
    }
}

impl<R> Transition<R> {
    /// Both sides of a record that was there before and still is.
    pub(crate) fn both(&self) -> Option<(&R, &R)> {
        Some((self.before.as_deref()?, self.after.as_deref()?))
    }
}
