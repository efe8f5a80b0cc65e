//! Dependencies: stage_dependency_edge and apply_dependency_to_child.

use super::change::Change;
use super::context::Context;
use super::decided::{Decided, Draft, Nudge};
use super::flow::{Loaded, flow_line, take_flow};
use super::group::{self, Counts, Verdict, move_edge, no_edges, verdict};
use crate::command::flow::{Applied, StageDependencyEdge, Staged};
use crate::error::{Code, Rejection};
use crate::id::ExecutionId;
use crate::name::DataRef;
use crate::record::{CounterKey, Edge, EdgeGroupPolicy, EdgeState, Execution, GroupCounter, Happening, RecordKey};

pub use super::cycle::{CycleSearch, CycleVerdict};

/// Both ends of a dependency as they were loaded.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    /// What must end first.
    pub upstream: &'a Execution,
    /// What waits.
    pub downstream: &'a Execution,
    /// The counters of the downstream's group.
    pub counts: &'a Counts,
}

/// What is known about the graph around a new edge, read after the flow.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The edge with the new edge's id, or the one between the same two members, if there is one.
    pub existing: Option<&'a Edge>,
    /// Another edge into the downstream that hands its result over under the new edge's name.
    pub namesake: Option<&'a Edge>,
    /// What the search from the downstream found.
    pub search: CycleVerdict,
}

/// Adds a dependency between two members. `context.gate` is their flow's.
///
/// Writes the flow, so that two concurrent stagings cannot close a cycle neither of them saw.
pub fn stage(
    loaded: Loaded<'_>,
    ends: Ends<'_>,
    command: &StageDependencyEdge,
    around: Surroundings<'_>,
    context: &Context,
) -> Result<Decided<Staged>, Rejection> {
    check_ends(loaded, command.upstream, command.downstream)?;
    loaded.check_takes_members()?;
    check_member(loaded, ends.upstream)?;
    check_member(loaded, ends.downstream)?;
    if let Some(existing) = around.existing {
        return staged_before(existing, command);
    }
    check_revision(loaded, command.expected_graph_revision)?;
    if let Some(name) = around.namesake.and(command.data_passing_ref.as_ref()) {
        return Err(named_twice(command.downstream, name));
    }
    around.search.check(command)?;
    let mut draft = Draft::default();
    let graph_revision = grow(&mut draft, loaded, 1, context) + 1;
    let edge = Edge {
        id: command
            .edge_id
            .unwrap_or_else(|| Edge::id_between(command.upstream, command.downstream)),
        flow_id: loaded.flow.id,
        upstream: command.upstream,
        downstream: command.downstream,
        kind: command.dependency_kind,
        data_passing_ref: command.data_passing_ref.clone(),
        state: EdgeState::Staged,
        join: EdgeGroupPolicy::default(),
        graph_revision,
        created_at: loaded.now(context),
        carried: Default::default(),
    };
    let staged = Staged {
        edge_id: edge.id,
        graph_revision,
    };
    if command.apply {
        let mut change = Change::begin(ends.downstream, context)?;
        let edge = attach(&mut change, edge, ends)?;
        draft.create(edge);
        draft.merge(change.finish_written(()).draft);
    } else {
        draft.create(edge);
    }
    Ok(Decided { outcome: staged, draft })
}

fn check_ends(loaded: Loaded<'_>, upstream: ExecutionId, downstream: ExecutionId) -> Result<(), Rejection> {
    loaded.check_there()?;
    if upstream == downstream {
        return Err(Code::SelfReferencingEdge.because(format!("execution {upstream} cannot depend on itself")));
    }
    Ok(())
}

/// The refusal of a second edge that would hand its result over under the same name.
pub(crate) fn named_twice(downstream: ExecutionId, name: &DataRef) -> Rejection {
    Code::InvalidInput.because(format!(
        "execution {downstream} is handed two results as {name}: each needs its own name"
    ))
}

/// Refuses an execution that is not a member of the flow.
pub(crate) fn check_member(loaded: Loaded<'_>, execution: &Execution) -> Result<(), Rejection> {
    if execution.definition.flow != Some(loaded.flow.id) {
        let (id, flow) = (execution.id, loaded.flow.id);
        return Err(Code::ExecutionNotInFlow.because(format!("execution {id} is not a member of flow {flow}")));
    }
    Ok(())
}

fn check_revision(loaded: Loaded<'_>, expected: Option<u64>) -> Result<(), Rejection> {
    let revision = loaded.flow.graph_revision;
    match expected {
        Some(expected) if expected != revision => Err(Code::StaleGraphRevision
            .because(format!(
                "flow {} is at graph revision {revision}, not {expected}",
                loaded.flow.id
            ))
            .with("graph_revision", revision)),
        _ => Ok(()),
    }
}

/// An edge whose id the caller gave is recognised when the call is repeated; without one, a second edge between the same two
/// members cannot be told from a repetition and is refused.
fn staged_before(existing: &Edge, command: &StageDependencyEdge) -> Result<Decided<Staged>, Rejection> {
    let same_pair = existing.upstream == command.upstream && existing.downstream == command.downstream;
    let same =
        same_pair && existing.kind == command.dependency_kind && existing.data_passing_ref == command.data_passing_ref;
    let (id, upstream, downstream) = (existing.id, command.upstream, command.downstream);
    match command.edge_id == Some(id) {
        true if same => Ok(Decided::unchanged(Staged {
            edge_id: id,
            graph_revision: existing.graph_revision,
        })),
        true => Err(Code::AlreadyExists.because(format!("edge {id} exists with another definition"))),
        false => {
            let detail = format!("{downstream} depends on {upstream} already, by edge {id}");
            Err(Code::DependencyAlreadyExists
                .because(detail)
                .with("edge_id", id.to_string()))
        }
    }
}

/// Counts `edges` new edges in the flow's graph revision and answers what it was before.
pub(crate) fn grow(draft: &mut Draft, loaded: Loaded<'_>, edges: u64, context: &Context) -> u64 {
    draft.guard(RecordKey::Gate(loaded.flow.id));
    let now = loaded.now(context);
    let mut flow = take_flow(draft, loaded.flow);
    let before = flow.graph_revision;
    flow.graph_revision += edges;
    flow.populated = true;
    flow.updated_at = now;
    let detail = format!("graph revision {}", flow.graph_revision);
    draft
        .history
        .push(flow_line(&flow, context, Happening::EdgeStaged, Some(detail)));
    draft.put(flow);
    before
}

/// Makes a staged dependency count. `context.gate` is the flow's.
pub fn apply(
    edge: &Edge,
    loaded: Loaded<'_>,
    ends: Ends<'_>,
    context: &Context,
) -> Result<Decided<Applied>, Rejection> {
    loaded.check_takes_members()?;
    if edge.state != EdgeState::Staged {
        return Ok(Decided::unchanged(Applied::AlreadyApplied));
    }
    let mut change = Change::begin(ends.downstream, context)?;
    let edge = attach(&mut change, edge.clone(), ends)?;
    let unsatisfied_count = ends.counts.after(edge.downstream, &change.draft).unsatisfied();
    change.draft.guard(RecordKey::Gate(edge.flow_id));
    change.draft.put(edge);
    Ok(change.finish_written(Applied::Applied { unsatisfied_count }))
}

/// Counts `edge` for its downstream: a runnable one is decided anew, an active or suspended one looks at its next
/// wait_children. Guards on the upstream, so that one that ends in the meantime is seen.
fn attach(change: &mut Change<'_>, edge: Edge, ends: Ends<'_>) -> Result<Edge, Rejection> {
    if change.after.is_terminal() {
        let id = change.after.id;
        return Err(Code::ExecutionNotEligible.because(format!("execution {id} has ended and waits for nothing more")));
    }
    change.draft.guard(RecordKey::Execution(ends.upstream.id));
    let dependencies = change.after.dependencies.get_or_insert_with(no_edges);
    dependencies.fixed = true;
    dependencies.no_results &= edge.data_passing_ref.is_none();
    let join = dependencies.policy;
    let edge = count(&mut change.draft, edge, ends.upstream, join);
    let counts = ends.counts.after(edge.downstream, &change.draft);
    if let Some(dependencies) = &mut change.after.dependencies {
        dependencies.unsatisfied = counts.unsatisfied();
    }
    change.note(Happening::DependencyApplied, Some(format!("on {}", edge.upstream)));
    block(change, join, &counts);
    Ok(edge)
}

/// Counts an edge that is applied, resolved at once if its upstream has ended.
pub(crate) fn count(draft: &mut Draft, mut edge: Edge, upstream: &Execution, join: EdgeGroupPolicy) -> Edge {
    let state = upstream
        .outcome()
        .map_or(EdgeState::Unresolved, |outcome| edge.resolution(outcome.kind));
    draft.increment(CounterKey::Group(edge.downstream, GroupCounter::Applied), 1);
    move_edge(draft, &mut edge, state);
    edge.join = join;
    edge
}

fn block(change: &mut Change<'_>, policy: EdgeGroupPolicy, counts: &Counts) {
    if change.after.runnable().is_none() {
        return;
    }
    let blocks = verdict(policy, counts) != Verdict::Satisfied;
    if let Some(dependencies) = &mut change.after.dependencies {
        dependencies.waiting |= blocks;
    }
    if blocks {
        change.drop_grant(Happening::GrantDropped);
        change.draft.nudge(Nudge::always(RecordKey::Execution(change.after.id)));
    }
    group::decide(change, counts);
}
