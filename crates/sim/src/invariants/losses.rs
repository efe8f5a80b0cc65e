//! What was accepted is never lost.

use std::collections::{BTreeMap, BTreeSet};

use ff_backend::load::Load;
use ff_core::id::{EdgeId, ExecutionId, FlowId, LeaseId};
use ff_core::name::ExecutionKind;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Edge, Execution, Flow, LeaseEnd, OutcomeKind};
use uuid::Uuid;

use super::mirror::{Changes, Mirror};
use super::watch::Store;
use super::{Holds, hold};

/// A part of a graph that a caller was told is there.
#[derive(Clone, Debug)]
pub struct GraphPromise {
    /// Its flow.
    pub flow_id: FlowId,
    /// Its members and what they are.
    pub members: Vec<(ExecutionId, ExecutionKind)>,
    /// Its edges.
    pub edges: Vec<EdgeId>,
}

/// What callers were told, and what excuses the store for not having it any more.
#[derive(Default)]
pub(crate) struct Promises {
    /// Executions that were accepted.
    accepted: BTreeSet<ExecutionId>,
    /// Flows that were accepted.
    flows: BTreeSet<FlowId>,
    /// Results that were accepted, with the number of replays before.
    completed: BTreeMap<ExecutionId, (u32, Option<Payload>)>,
    /// What somebody has asked to be deleted before its time.
    unwanted: BTreeSet<ExecutionId>,
    /// What was deleted when its time had come, or on request.
    deleted: BTreeSet<ExecutionId>,
    deleted_flows: BTreeSet<FlowId>,
    /// What a failover lost.
    lost: BTreeSet<ExecutionId>,
    lost_flows: BTreeSet<FlowId>,
    /// Replays an execution had seen when a lease completed it.
    completions: BTreeMap<(ExecutionId, Uuid), u32>,
}

impl Promises {
    /// Takes over ends and deletions, which must have been due.
    pub(crate) fn observe(&mut self, mirror: &Mirror, changes: &Changes) -> Holds {
        for transition in &changes.executions {
            match (transition.before.as_deref(), transition.after.as_deref()) {
                (Some(before), Some(after)) => self.note_completion(before, after),
                (Some(before), None) => self.delete(mirror, before, changes)?,
                (None, Some(after)) => self.begin(after.id),
                (None, None) => {}
            }
        }
        for transition in &changes.edges {
            if let (Some(before), None) = (transition.before.as_deref(), transition.after.as_deref()) {
                self.goes_with_its_flow(mirror, before)?;
            }
        }
        for transition in &changes.flow_records {
            match (transition.before.as_deref(), transition.after.as_deref()) {
                (Some(before), Some(after)) if after.deleting && !before.deleting => nobody_needs(mirror, after)?,
                (Some(before), None) => self.delete_flow(before)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// An execution was submitted. Another one may have had its id before, long ago or in what a failover lost.
    fn begin(&mut self, id: ExecutionId) {
        self.completed.remove(&id);
        self.completions.retain(|(of, _), _| *of != id);
    }

    /// An edge is deleted with its flow, or with a member that somebody has asked to be deleted.
    fn goes_with_its_flow(&self, mirror: &Mirror, edge: &Edge) -> Holds {
        let (id, flow) = (edge.id, edge.flow_id);
        let with_member = [edge.upstream, edge.downstream]
            .iter()
            .any(|end| self.unwanted.contains(end));
        hold(
            with_member || mirror.flows.get(&flow).is_none_or(|flow| flow.deleting),
            "only what nobody needs any more is deleted",
            || format!("the edge {id} of flow {flow} was deleted, and its flow was not"),
        )
    }

    fn delete_flow(&mut self, flow: &Flow) -> Holds {
        self.deleted_flows.insert(flow.id);
        hold(flow.deleting, "only what nobody needs any more is deleted", || {
            format!("flow {} was deleted out of turn", flow.id)
        })
    }

    fn note_completion(&mut self, before: &Execution, after: &Execution) {
        let Some(held) = before.lease().filter(|_| after.lease().is_none()) else {
            return;
        };
        let ended = after.ended_lease.as_ref().map(|ended| &ended.end);
        if ended == Some(&LeaseEnd::Completed) {
            let key = (after.id, held.id.expose());
            self.completions.insert(key, after.counts.replays);
        }
    }

    fn delete(&mut self, mirror: &Mirror, execution: &Execution, changes: &Changes) -> Holds {
        let unwanted = self.unwanted.contains(&execution.id);
        let own_time = execution.outcome().is_some_and(|outcome| {
            outcome.deleting && (unwanted || outcome.delete_at.is_some_and(|at| at.has_come(changes.at)))
        });
        let flow = execution.definition.flow;
        let with_flow = flow.is_some_and(|flow| mirror.flows.get(&flow).is_none_or(|flow| flow.deleting));
        self.deleted.insert(execution.id);
        hold(
            own_time || with_flow,
            "only what nobody needs any more is deleted",
            || {
                format!(
                    "{} was deleted at {} as {:?}",
                    execution.id, changes.at, execution.phase
                )
            },
        )
    }

    /// A caller asks for this execution to be deleted.
    pub(crate) fn ask_to_delete(&mut self, id: ExecutionId) {
        self.unwanted.insert(id);
    }

    /// A caller was told that this execution is there.
    pub(crate) fn accept(&mut self, mirror: &Mirror, id: ExecutionId) -> Holds {
        self.accepted.insert(id);
        self.is_there(mirror, id)
    }

    /// A caller was told that this flow is there.
    pub(crate) fn accept_flow(&mut self, mirror: &Mirror, id: FlowId) -> Holds {
        self.flows.insert(id);
        self.flow_is_there(mirror, id)
    }

    /// A caller was told that this part of a graph is there. The answer may be older than the end of a member that nobody needs any
    /// more, which takes its edges with it.
    pub(crate) fn accept_graph(&self, mirror: &Mirror, promise: &GraphPromise) -> Holds {
        let flow = promise.flow_id;
        if mirror.flows.get(&flow).is_none_or(|flow| flow.deleting) {
            return Ok(());
        }
        if promise.members.iter().any(|(id, _)| self.deleted.contains(id)) {
            return Ok(());
        }
        for (id, kind) in &promise.members {
            let member = mirror.executions.get(id);
            let as_sent = member.is_some_and(|member| member.definition.kind == *kind);
            hold(as_sent, "an accepted graph is there", || {
                let found = member.map(|member| &member.definition);
                format!("flow {flow} was accepted with the member {id} of kind {kind}, and has {found:?}")
            })?;
        }
        for id in &promise.edges {
            hold(mirror.edges.contains_key(id), "an accepted graph is there", || {
                format!("flow {flow} was accepted with the edge {id}, which is not there")
            })?;
        }
        Ok(())
    }

    /// A worker was told that its execution was completed with this result.
    pub(crate) fn complete(&mut self, id: ExecutionId, lease: LeaseId, result: Option<Payload>) {
        // A worker may hear only now of a completion that a failover lost.
        let Some(replays) = self.completions.get(&(id, lease.expose())).copied() else {
            return;
        };
        let told = self.completed.get(&id).map_or(0, |(replays, _)| *replays);
        if replays >= told && !self.lost.contains(&id) {
            self.completed.insert(id, (replays, result));
        }
    }

    /// A failover put the store back to `mirror`.
    pub(crate) fn lose(&mut self, before: &Mirror, mirror: &Mirror) {
        let lost = before
            .executions
            .keys()
            .filter(|id| !mirror.executions.contains_key(id));
        self.lost.extend(lost);
        let lost = before.flows.keys().filter(|id| !mirror.flows.contains_key(id));
        self.lost_flows.extend(lost);
        let keeps = |id: ExecutionId, replays: u32| {
            let execution = mirror.executions.get(&id);
            execution.is_some_and(|execution| execution.counts.replays >= replays)
                && keeps_completion(mirror, id, replays)
        };
        self.completed.retain(|id, (replays, _)| keeps(*id, *replays));
        self.completions.retain(|(id, _), replays| keeps(*id, *replays));
    }

    /// Everything that was accepted is there.
    pub(crate) fn check_all(&self, mirror: &Mirror) -> Holds {
        self.accepted.iter().try_for_each(|id| self.is_there(mirror, *id))?;
        self.flows.iter().try_for_each(|id| self.flow_is_there(mirror, *id))?;
        for (id, (replays, _)) in &self.completed {
            hold(
                keeps_completion(mirror, *id, *replays),
                "what was completed stays completed",
                || {
                    let phase = mirror.executions.get(id).map(|execution| &execution.phase);
                    format!("{id} was completed, and is {phase:?}")
                },
            )?;
        }
        Ok(())
    }

    fn is_there(&self, mirror: &Mirror, id: ExecutionId) -> Holds {
        let excused = self.deleted.contains(&id) || self.lost.contains(&id);
        hold(
            excused || mirror.executions.contains_key(&id),
            "an accepted execution is never lost",
            || format!("{id} was accepted and is not there"),
        )
    }

    fn flow_is_there(&self, mirror: &Mirror, id: FlowId) -> Holds {
        let excused = self.deleted_flows.contains(&id) || self.lost_flows.contains(&id);
        hold(
            excused || mirror.flows.contains_key(&id),
            "an accepted flow is never lost",
            || format!("flow {id} was accepted and is not there"),
        )
    }

    /// Every accepted result can be read.
    pub(crate) fn results_are_there(&self, mirror: &Mirror, store: &Store) -> Holds {
        for (id, (replays, result)) in &self.completed {
            let untouched = mirror
                .executions
                .get(id)
                .is_some_and(|execution| execution.counts.replays == *replays && !execution.is_deleting());
            let Some(result) = result.as_ref().filter(|_| untouched) else {
                continue;
            };
            let key = BlobKey::Result(*id);
            let mut snapshot = store.load(Load::records(id.partition(), []).with_blobs([key]));
            let stored = snapshot.blobs.remove(&key);
            hold(stored.as_ref() == Some(result), "an accepted result is kept", || {
                format!("{id} was completed with {result:?}, and has {stored:?}")
            })?;
        }
        Ok(())
    }
}

/// A flow that is being deleted has no open members; one that was never opened, nor cancelled, has none that ever ran.
fn nobody_needs(mirror: &Mirror, flow: &Flow) -> Holds {
    let id = flow.id;
    if flow.opened_at.is_none() && flow.cancellation.is_none() {
        let ran = mirror.members_of(id).find(|member| member.has_run());
        return hold(
            ran.is_none(),
            "what ever ran does not go with a flow nobody opened",
            || {
                let ran = ran.map(|member| (member.id, &member.phase));
                format!("flow {id} goes, but its member {ran:?} ran")
            },
        );
    }
    let open = mirror.members_of(id).find(|member| !member.is_terminal());
    hold(open.is_none(), "only what nobody needs any more is deleted", || {
        let open = open.map(|member| member.id);
        format!("flow {id} goes, but its member {open:?} is open")
    })
}

/// Whether an execution is as a completion left it, or was replayed since, or was deleted since.
fn keeps_completion(mirror: &Mirror, id: ExecutionId, replays: u32) -> bool {
    mirror.executions.get(&id).is_none_or(|execution| {
        let success = execution
            .outcome()
            .is_some_and(|outcome| outcome.kind == OutcomeKind::Success);
        success || execution.counts.replays > replays
    })
}
