//! A flow as it was read: the record, its gate and its counters, at one moment.

use ff_backend::load::{Load, Snapshot};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::id::FlowId;
use ff_core::machine::flow::{Counts, Loaded};
use ff_core::machine::{Context, Decided};
use ff_core::partition::Partition;
use ff_core::record::{CounterKey, Flow, FlowCounter, GateState, RecordKey};

use crate::engine::Engine;
use crate::transact::Decision;

/// A flow in a snapshot.
pub(crate) struct FlowRead<'s> {
    pub(crate) flow: &'s Flow,
    pub(crate) gate: GateState,
    pub(crate) counts: Counts,
}

impl<'s> FlowRead<'s> {
    /// `None`: the snapshot has no such flow, or not its gate.
    pub(crate) fn of(snapshot: &'s Snapshot, id: FlowId) -> Option<Self> {
        Some(Self {
            flow: snapshot.flow(&RecordKey::Flow(id))?,
            gate: snapshot.gate(&RecordKey::Gate(id))?.state,
            counts: Counts::read(|counter| snapshot.counter(CounterKey::Flow(id, counter))),
        })
    }

    /// The flow as rules take it.
    pub(crate) fn loaded(&self) -> Loaded<'_> {
        Loaded {
            flow: self.flow,
            gate: self.gate,
            counts: &self.counts,
        }
    }
}

impl Engine {
    /// Where a flow and all that belongs to it lives.
    pub(crate) fn home_of(&self, id: FlowId) -> Partition {
        self.shared.config.counts.of_flow(id)
    }

    /// What is needed to decide about a flow.
    pub(crate) fn load_of_flow(&self, id: FlowId) -> Load {
        let counters = FlowCounter::all().map(|counter| CounterKey::Flow(id, counter));
        Load::records(self.home_of(id), [RecordKey::Flow(id), RecordKey::Gate(id)]).with_counters(counters)
    }

    /// The flow of a snapshot, if the caller may see it. One whose retention is over, or of another namespace than the
    /// caller's, is answered exactly as one that never was.
    pub(crate) fn visible_flow<'s>(&self, snapshot: &'s Snapshot, id: FlowId) -> Result<FlowRead<'s>> {
        let found = FlowRead::of(snapshot, id);
        let seen = |read: &FlowRead<'_>| self.caller.sees(&read.flow.namespace) && !read.flow.deleting;
        found.filter(seen).ok_or_else(|| no_flow(id))
    }

    /// The circumstances of a decision about a flow.
    pub(crate) fn context_of_flow(&self, snapshot: &Snapshot, read: &FlowRead<'_>) -> Context {
        Context {
            gate: Some(read.gate),
            ..self.context(snapshot.now)
        }
    }

    /// Reads a flow, which the caller must be allowed to see.
    pub(crate) async fn read_flow(&self, id: FlowId) -> Result<Snapshot> {
        let snapshot = self.store().load(self.load_of_flow(id)).await?;
        self.visible_flow(&snapshot, id)?;
        Ok(snapshot)
    }

    /// Decides and commits a change of one flow.
    pub(crate) async fn change_flow<O: Send>(
        &self,
        id: FlowId,
        rule: impl Fn(Loaded<'_>, &Context) -> Result<Decided<O>> + Send + Sync,
    ) -> Result<O> {
        let locked = self.lock(RecordKey::Flow(id)).await;
        let decide = || async {
            let snapshot = locked.look(self.load_of_flow(id)).await?;
            let read = self.visible_flow(&snapshot, id)?;
            let decided = rule(read.loaded(), &self.context_of_flow(&snapshot, &read))?;
            Ok(Decision::Commit(snapshot, decided))
        };
        locked.transact(decide).await
    }
}

/// The answer for a flow that is not there, or not for this caller.
pub(crate) fn no_flow(id: FlowId) -> Rejection {
    Code::FlowNotFound.because(format!("flow {id} does not exist"))
}
