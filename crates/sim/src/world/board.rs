//! What the clients and workers of a world know: the ids they were given, and what they may do with them.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_core::command::flow::FlowGraph;
use ff_core::command::operator::RevokeLease;
use ff_core::command::signal::ResumeExecution;
use ff_core::id::{BudgetId, EdgeId, ExecutionId, FlowId, QuotaPolicyId, WaitpointId};
use ff_core::name::{IdempotencyKey, Namespace, WorkerId, WorkerInstanceId};
use ff_core::partition::PartitionCounts;
use ff_core::record::Fence;
use ff_core::token::{SignedCursor, SignedGrant, WaitpointToken};

use crate::luck::Luck;

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Everybody does as luck says, and things go wrong.
    Storm,
    /// Nothing goes wrong any more; workers finish whatever there is.
    Tidy,
    /// Everything has ended; nobody does anything.
    Rest,
}

/// Shared by everybody in a world.
pub(crate) struct Board {
    /// Partitions of the store.
    pub(crate) counts: PartitionCounts,
    /// A variant in which whoever shows any fence is taken for the holder.
    pub(crate) fences_are_ignored: bool,
    phase: AtomicU8,
    clients: AtomicUsize,
    known: Mutex<Known>,
}

/// What was learned so far.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) executions: Vec<KnownExecution>,
    pub(crate) flows: Vec<KnownFlow>,
    /// Graphs, with all their accepted parts.
    pub(crate) graphs: Vec<FlowGraph>,
    /// Dependencies that were staged and may not count yet.
    pub(crate) edges: Vec<(FlowId, EdgeId)>,
    pub(crate) budgets: Vec<(Namespace, BudgetId)>,
    pub(crate) quotas: Vec<(Namespace, QuotaPolicyId)>,
    pub(crate) doors: Vec<Door>,
    pub(crate) grants: Vec<KnownGrant>,
    /// Fences of leases that are over, or that their holder forgot.
    pub(crate) old_fences: Vec<(ExecutionId, Fence)>,
    /// Executions that were submitted by a running one, with that one.
    pub(crate) children: Vec<(ExecutionId, ExecutionId)>,
    /// What operators asked for under a name, to be asked for again.
    pub(crate) requests: Vec<(ExecutionId, OperatorRequest)>,
    /// Keys submissions were made under.
    pub(crate) keys: Vec<IdempotencyKey>,
    /// Where listings and feeds go on.
    pub(crate) cursors: Vec<SignedCursor>,
}

/// An execution somebody submitted.
#[derive(Clone, Debug)]
pub(crate) struct KnownExecution {
    pub(crate) id: ExecutionId,
    pub(crate) flow: Option<FlowId>,
}

/// A flow somebody created.
#[derive(Clone, Debug)]
pub(crate) struct KnownFlow {
    pub(crate) id: FlowId,
    pub(crate) namespace: Namespace,
}

/// A place where a signal can be delivered, with what opens it.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    pub(crate) execution_id: ExecutionId,
    pub(crate) waitpoint_id: WaitpointId,
    pub(crate) token: WaitpointToken,
}

/// Something an operator asks for under a name of its own.
#[derive(Clone, Debug)]
pub(crate) enum OperatorRequest {
    Resume(ResumeExecution),
    Revoke(RevokeLease),
}

/// A grant somebody has.
#[derive(Clone, Debug)]
pub(crate) struct KnownGrant {
    pub(crate) grant: SignedGrant,
    pub(crate) worker: WorkerId,
    pub(crate) instance: WorkerInstanceId,
}

impl Board {
    pub(crate) fn new(counts: PartitionCounts, fences_are_ignored: bool) -> Self {
        Self {
            counts,
            fences_are_ignored,
            phase: AtomicU8::new(Phase::Storm as u8),
            clients: AtomicUsize::new(0),
            known: Mutex::default(),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::Storm,
            1 => Phase::Tidy,
            _ => Phase::Rest,
        }
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// A client begins.
    pub(crate) fn client_comes(&self) {
        self.clients.fetch_add(1, Ordering::Relaxed);
    }

    /// A client has heard of everything it asked for, and asks no more.
    pub(crate) fn client_goes(&self) {
        self.clients.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether all clients are gone.
    pub(crate) fn is_quiet(&self) -> bool {
        self.clients.load(Ordering::Relaxed) == 0
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Some execution, recent ones more often.
    pub(crate) fn execution(&self, luck: &Luck) -> Option<ExecutionId> {
        Some(recent(&self.known().executions, luck)?.id)
    }

    /// Some flow, recent ones more often.
    pub(crate) fn flow(&self, luck: &Luck) -> Option<KnownFlow> {
        recent(&self.known().flows, luck).cloned()
    }

    /// Some graph, recent ones more often.
    pub(crate) fn graph(&self, luck: &Luck) -> Option<FlowGraph> {
        recent(&self.known().graphs, luck).cloned()
    }

    /// A part of a graph was accepted: the first one, perhaps once more and grown, or another one.
    pub(crate) fn learn_graph(&self, part: FlowGraph) {
        let mut known = self.known();
        let flow = part.flow.flow_id;
        match known.graphs.iter_mut().find(|graph| graph.flow.flow_id == flow) {
            Some(graph) if graph.members[0].key == part.members[0].key => *graph = part,
            Some(graph) => {
                graph.members.extend(part.members);
                graph.edges.extend(part.edges);
            }
            None => known.graphs.push(part),
        }
    }

    /// Two different members of one flow, the one submitted first first.
    pub(crate) fn two_members(&self, luck: &Luck) -> Option<(FlowId, ExecutionId, ExecutionId)> {
        let flow = self.flow(luck)?.id;
        let members = self.members(flow);
        let later = luck.between(1, (members.len() as u64).checked_sub(1).filter(|last| *last > 0)?);
        let later = usize::try_from(later).ok()?;
        Some((flow, members[luck.index(later)], members[later]))
    }

    /// Members of a flow, in the order they were submitted.
    pub(crate) fn members(&self, flow: FlowId) -> Vec<ExecutionId> {
        let known = self.known();
        let of_flow = |known: &&KnownExecution| known.flow == Some(flow);
        known.executions.iter().filter(of_flow).map(|known| known.id).collect()
    }

    /// An execution was accepted.
    pub(crate) fn learn(&self, id: ExecutionId, flow: Option<FlowId>) {
        let mut known = self.known();
        if !known.executions.iter().any(|known| known.id == id) {
            known.executions.push(KnownExecution { id, flow });
        }
    }
}

/// One of `items`, the last ones more often: what is new is where things happen.
fn recent<'a, T>(items: &'a [T], luck: &Luck) -> Option<&'a T> {
    let last = luck.index(items.len()).max(luck.index(items.len()));
    items.get(last)
}
