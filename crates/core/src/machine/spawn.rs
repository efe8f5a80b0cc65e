//! active → active: spawn_children.
//!
//! One transaction: the children as members of the parent's flow, an edge from each to the parent, and a step that keeps its
//! id. A parent that is in no flow gets one of its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::change::Change;
use super::context::Context;
use super::decided::{Decided, Draft, Write, count_member};
use super::edge::{count, grow};
use super::fence;
use super::flow::{self, Loaded};
use super::group::{Counts, no_edges};
use super::member::{self, Membership};
use super::steps;
use super::submit::{self, Known};
use crate::command::flow::{Assembly, CreateFlow};
use crate::command::spawn::{Child, SpawnChildren, SpawnedChild, SpawnedChildren};
use crate::command::steps::StepStatus;
use crate::command::submit::LaneState;
use crate::error::{Code, Rejection};
use crate::id::{ExecutionId, FlowId};
use crate::limits::{FLOW_MEMBERS_MAX, SPAWN_BYTES_MAX, SPAWN_CHILDREN_MAX};
use crate::name::FlowKind;
use crate::policy::{Never, Retention};
use crate::record::{
    Definition, DependencyKind, Edge, EdgeGroupPolicy, EdgeState, Execution, Flow, GateState, Record, RecordKey, Tags,
};
use crate::state::public_state;

/// What was loaded besides the parent.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The parent's flow; `None`: it is in none.
    pub flow: Option<Loaded<'a>>,
    /// The counters of the parent's group.
    pub counts: &'a Counts,
    /// What steps of these names have started before, as far as it is there.
    pub spawned: &'a [&'a Execution],
    /// The state of each child's lane, in order.
    pub lanes: &'a [LaneState],
}

/// Ids that nobody has used.
#[derive(Clone, Debug)]
pub struct FreshIds {
    /// For a flow, in the parent's partition.
    pub flow: FlowId,
    /// For each child, in order.
    pub children: Vec<ExecutionId>,
}

/// A child that is to be created.
struct New<'c> {
    child: &'c Child,
    id: ExecutionId,
    lane: LaneState,
}

/// Starts what was not started before; safe to repeat, under another lease too.
pub fn spawn_children(
    parent: &Execution,
    command: &SpawnChildren,
    around: Surroundings<'_>,
    fresh: &FreshIds,
    context: &Context,
) -> Result<Decided<SpawnedChildren>, Rejection> {
    check_size(command)?;
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(parent, context)?;
    fence::hold(&mut change, fence)?;
    check_group(&change)?;
    let (mut children, mut new) = (Vec::new(), Vec::new());
    let offered = command.children.iter().zip(&fresh.children).zip(around.lanes);
    for ((child, id), lane) in offered {
        let (spawned, status) = match steps::find_spawn(&change, &child.step, around.spawned)? {
            Some(step) => (step, StepStatus::Already),
            None => {
                new.push(New {
                    child,
                    id: *id,
                    lane: *lane,
                });
                (steps::record_spawn(&mut change, &child.step, *id), StepStatus::Recorded)
            }
        };
        children.push(SpawnedChild {
            execution_id: spawned.0,
            seq: spawned.1,
            status,
        });
    }
    let flow_id = change.after.definition.flow.unwrap_or(fresh.flow);
    let spawned = SpawnedChildren { flow_id, children };
    if new.is_empty() {
        return Ok(change.finish(spawned));
    }
    steps::check_room(&change)?;
    change.after.steps.spawned = true;
    match around.flow {
        Some(loaded) => add_to(&mut change, loaded, &new, around.counts)?,
        None => add_to_own_flow(&mut change, flow_id, &new, around.counts)?,
    }
    Ok(change.finish(spawned))
}

fn check_size(command: &SpawnChildren) -> Result<(), Rejection> {
    let count = command.children.len();
    if count == 0 {
        return Err(Code::InvalidInput.because("children is empty"));
    }
    if count > SPAWN_CHILDREN_MAX {
        return Err(
            Code::BatchTooLarge.because(format!("{count} children in one call, more than {SPAWN_CHILDREN_MAX}"))
        );
    }
    let bytes: usize = command.children.iter().map(|child| child.input.len()).sum();
    if bytes > SPAWN_BYTES_MAX {
        let detail = format!("{bytes} bytes of inputs in one call, more than {SPAWN_BYTES_MAX}");
        return Err(Code::PayloadTooLarge.because(detail));
    }
    let mut names = BTreeSet::new();
    match command.children.iter().find(|child| !names.insert(&child.step)) {
        Some(twice) => Err(Code::InvalidInput.because(format!("step {} stands there twice", twice.step))),
        None => Ok(()),
    }
}

/// A parent that needs only some of its upstreams would not wait for its children.
fn check_group(change: &Change<'_>) -> Result<(), Rejection> {
    let dependencies = change.after.dependencies.as_ref();
    let policy = dependencies.map(|dependencies| dependencies.policy);
    if policy.is_some_and(|policy| policy != EdgeGroupPolicy::AllOf) {
        let id = change.after.id;
        let detail = format!("execution {id} does not wait for all of what it depends on: it cannot wait for children");
        return Err(Code::InvalidInput.because(detail));
    }
    Ok(())
}

/// Adds the children to the flow the parent is a member of.
fn add_to(change: &mut Change<'_>, loaded: Loaded<'_>, new: &[New<'_>], counts: &Counts) -> Result<(), Rejection> {
    loaded.check_takes_members()?;
    if loaded.counts.members + new.len() as u64 > FLOW_MEMBERS_MAX {
        let detail = format!("flow {} may have {FLOW_MEMBERS_MAX} members", loaded.flow.id);
        return Err(Code::GraphTooLarge.because(detail));
    }
    let mut draft = Draft::default();
    let revision = grow(&mut draft, loaded, new.len() as u64, change.context);
    join(change, draft, loaded, new, revision)?;
    depend_on_them(change, counts);
    Ok(())
}

/// Makes the parent a member of a flow of its own, and adds the children to that.
fn add_to_own_flow(change: &mut Change<'_>, id: FlowId, new: &[New<'_>], counts: &Counts) -> Result<(), Rejection> {
    let (flow, mut draft) = own_flow(change, id, new.len() as u64)?;
    let nobody = flow::Counts::default();
    let loaded = Loaded {
        flow: &flow,
        gate: GateState::Open,
        counts: &nobody,
    };
    count_member(&mut draft, id, None, Some(public_state(&change.after)));
    join(change, draft, loaded, new, 0)?;
    // There is nothing to guard on: it is made by the same transaction.
    change.draft.guards.retain(|key| *key != RecordKey::Gate(id));
    change.draft.create(flow);
    change.after.definition = Arc::new(Definition {
        flow: Some(id),
        ..(*change.after.definition).clone()
    });
    depend_on_them(change, counts);
    Ok(())
}

/// A flow that is kept as long as the parent would have been, and the rest of the transaction that creates it.
fn own_flow(change: &Change<'_>, id: FlowId, edges: u64) -> Result<(Flow, Draft), Rejection> {
    let definition = &change.after.definition;
    let command = CreateFlow {
        namespace: definition.namespace.clone(),
        flow_kind: FlowKind::spawned(),
        tags: Tags::new(),
        retention: Some(
            definition
                .policy
                .retention()
                .map_or(Retention::Forever(Never::Never), Retention::For),
        ),
        assembly: Assembly::Open,
    };
    let mut draft = flow::create_own(id, &command, change.context).draft;
    let is_flow = |write: &Write| {
        matches!(
            write,
            Write::Create {
                record: Record::Flow(_),
                ..
            }
        )
    };
    let created = draft
        .writes
        .iter()
        .position(is_flow)
        .map(|place| draft.writes.remove(place));
    let Some(Write::Create {
        record: Record::Flow(flow),
        ..
    }) = created
    else {
        return Err(Code::Internal.because("a new flow was not drafted"));
    };
    let flow = Flow {
        graph_revision: edges,
        populated: true,
        ..*flow
    };
    Ok((flow, draft))
}

/// Creates the children as members, with an edge from each to the parent.
fn join(
    change: &mut Change<'_>,
    mut draft: Draft,
    loaded: Loaded<'_>,
    new: &[New<'_>],
    revision: u64,
) -> Result<(), Rejection> {
    let (parent, context) = (change.after.id, change.context);
    let namespace = &change.after.definition.namespace;
    for (position, New { child, id, lane }) in (1..).zip(new) {
        let known = Known {
            lane: *lane,
            ..Known::default()
        };
        let submission = child.submission(namespace.clone(), loaded.flow.id);
        draft.merge(submit::create(&submission, *id, known, context)?.draft);
        let membership = Membership {
            flow: loaded,
            depends_on: &[],
            upstreams: &[],
        };
        member::join(&mut draft, *id, membership, context)?;
        let edge = Edge {
            id: Edge::id_between(*id, parent),
            flow_id: loaded.flow.id,
            upstream: *id,
            downstream: parent,
            kind: DependencyKind::AnyTerminal,
            data_passing_ref: None,
            state: EdgeState::Staged,
            join: EdgeGroupPolicy::AllOf,
            graph_revision: revision + position,
            created_at: change.now,
            carried: Default::default(),
        };
        if let Some(created) = draft.execution(*id).cloned() {
            let edge = count(&mut draft, edge, &created, EdgeGroupPolicy::AllOf);
            draft.create(edge);
        }
    }
    change.draft.merge(draft);
    Ok(())
}

/// The parent's next wait_children waits for them.
fn depend_on_them(change: &mut Change<'_>, counts: &Counts) {
    let unsatisfied = counts.after(change.after.id, &change.draft).unsatisfied();
    let dependencies = change.after.dependencies.get_or_insert_with(no_edges);
    dependencies.fixed = true;
    dependencies.unsatisfied = unsatisfied;
}
