//! What a submission into a flow needs besides: the flow, the members it waits for, and the parent that spawns it.

use ff_backend::load::{Load, Snapshot};
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::machine::member::{self, Membership};
use ff_core::machine::{Context, Draft, lease};
use ff_core::record::{CounterKey, Execution, FlowCounter, RecordKey};

use super::create::Submission;
use crate::engine::as_worker;
use crate::ops::flows::{FlowRead, no_flow};

impl Submission<'_> {
    /// Reads what the flow side of a submission is decided from, too.
    pub(super) fn load_flow(&self, mut load: Load) -> Load {
        let command = self.command;
        let Some(flow) = command.flow_id else { return load };
        let partition = load.partition;
        let upstreams = command.depends_on.iter().map(|on| on.upstream);
        let parent = command.parent_fence.map(|parent| parent.execution_id);
        // An execution of another partition is no member of this flow; the rules say so when they do not find it.
        let members = upstreams.chain(parent).filter(|id| id.partition() == partition);
        load.records.extend([RecordKey::Flow(flow), RecordKey::Gate(flow)]);
        load.records.extend(members.map(RecordKey::Execution));
        load.records.extend(named_edges(command));
        load.records.sort_unstable();
        load.records.dedup();
        load.with_counters(FlowCounter::all().map(|counter| CounterKey::Flow(flow, counter)))
    }

    /// Refuses a flow that is not there, or not in the namespace of the submission.
    pub(super) fn check_flow(&self, snapshot: &Snapshot) -> Result<()> {
        match self.command.flow_id {
            None => Ok(()),
            Some(id) => flow_of(self.command, snapshot, id).map(|_| ()),
        }
    }

    /// The circumstances of a submission: a worker that spawns is the one who acts.
    pub(super) fn context(&self, snapshot: &Snapshot) -> Context {
        let context = self.engine.context(snapshot.now);
        let parent = self.command.parent_fence;
        let parent = parent.map(|parent| RecordKey::Execution(parent.execution_id));
        match parent.and_then(|key| snapshot.execution(&key)) {
            Some(parent) => as_worker(parent, context),
            None => context,
        }
    }

    /// Makes what `draft` creates a member of its flow. A repetition creates nothing and joins nothing.
    pub(super) fn join_flow(&self, draft: &mut Draft, snapshot: &Snapshot, context: &Context) -> Result<()> {
        let (command, id) = (self.command, self.assigned.id);
        let Some(flow_id) = command.flow_id.filter(|_| draft.execution(id).is_some()) else {
            return Ok(());
        };
        if let Some(parent) = &command.parent_fence {
            let spawning = self.parent(snapshot, parent.execution_id, flow_id)?;
            lease::spawn(draft, spawning, &parent.fence, flow_id, context)?;
        }
        check_edges(command, snapshot)?;
        let read = flow_of(command, snapshot, flow_id)?;
        let membership = Membership {
            flow: read.loaded(),
            depends_on: &command.depends_on,
            upstreams: &upstreams(command, snapshot),
        };
        member::join(draft, id, membership, context)
    }

    /// The execution that spawns this one. One of another partition cannot be in the flow, and is not in the snapshot.
    fn parent<'r>(&self, snapshot: &'r Snapshot, id: ExecutionId, flow: FlowId) -> Result<&'r Execution> {
        if id.partition() == snapshot.partition {
            return self.engine.visible(snapshot, id);
        }
        self.engine.check_id(id)?;
        Err(Code::ExecutionNotInFlow.because(format!("execution {id} is not a member of flow {flow}")))
    }
}

fn flow_of<'s>(command: &CreateExecution, snapshot: &'s Snapshot, id: FlowId) -> Result<FlowRead<'s>> {
    let is_there = |read: &FlowRead<'_>| read.flow.namespace == command.namespace && !read.flow.deleting;
    FlowRead::of(snapshot, id).filter(is_there).ok_or_else(|| no_flow(id))
}

fn upstreams<'s>(command: &CreateExecution, snapshot: &'s Snapshot) -> Vec<&'s Execution> {
    let keys = command.depends_on.iter().map(|on| RecordKey::Execution(on.upstream));
    keys.filter_map(|key| snapshot.execution(&key)).collect()
}

/// Edges whose ids were given. Derived ids cannot be taken: the new member is one of their ends.
fn named_edges(command: &CreateExecution) -> impl Iterator<Item = RecordKey> {
    command
        .depends_on
        .iter()
        .filter_map(|on| on.edge_id)
        .map(RecordKey::Edge)
}

fn check_edges(command: &CreateExecution, snapshot: &Snapshot) -> Result<()> {
    match named_edges(command).find_map(|key| snapshot.edge(&key)) {
        None => Ok(()),
        Some(edge) => Err(Code::DependencyAlreadyExists
            .because(format!("edge {} exists already, between other members", edge.id))
            .with("edge_id", edge.id.to_string())),
    }
}
