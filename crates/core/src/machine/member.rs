//! Membership: what joining a flow adds to a submission, and add_execution_to_flow.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::change::{Change, history_line};
use super::context::Context;
use super::decided::{Decided, Draft, Nudge, Write, count_member};
use super::edge::{check_member, count, grow, named_twice};
use super::flow::Loaded;
use super::group::{self, Counts, Verdict, no_edges, verdict};
use crate::command::flow::Joined;
use crate::command::submit::DependsOn;
use crate::error::{Code, Rejection};
use crate::id::ExecutionId;
use crate::limits::{BATCH_ITEMS_MAX, FLOW_MEMBERS_MAX};
use crate::partition::Partition;
use crate::record::{
    Definition, Edge, EdgeGroupPolicy, EdgeState, Execution, Flow, GateState, Happening, Phase, Record, RecordKey,
};
use crate::state::public_state;
use crate::time::Timestamp;

/// The flow side of a submission.
#[derive(Clone, Copy, Debug)]
pub struct Membership<'a> {
    /// The flow it joins.
    pub flow: Loaded<'a>,
    /// Members it waits for.
    pub depends_on: &'a [DependsOn],
    /// Those members, as loaded; what the same draft creates need not be here.
    pub upstreams: &'a [&'a Execution],
}

/// Makes the execution `id`, which `draft` creates, a member of its flow and blocks it on its dependencies.
///
/// A new member has no outbound edges, so its inbound ones close no cycle. Each upstream is guarded on, so that one that
/// ends in the meantime is seen; one that has ended resolves its edge at once.
pub fn join(
    draft: &mut Draft,
    id: ExecutionId,
    membership: Membership<'_>,
    context: &Context,
) -> Result<(), Rejection> {
    let loaded = membership.flow;
    let Some(created) = draft.execution(id) else {
        // A repeated submission: its first one made it a member.
        return Ok(());
    };
    loaded.check_takes_members()?;
    check_room(loaded)?;
    check_namespace(loaded, created)?;
    let mut member = created.clone();
    let before = public_state(&member);
    member.unopened = loaded.gate == GateState::Assembling;
    depend(draft, &mut member, membership, context)?;
    count_member(draft, loaded.flow.id, Some(before), Some(public_state(&member)));
    replace_created(draft, member);
    draft.guard(RecordKey::Gate(loaded.flow.id));
    draft.nudge(Nudge::always(RecordKey::Flow(loaded.flow.id)));
    Ok(())
}

fn check_room(loaded: Loaded<'_>) -> Result<(), Rejection> {
    if loaded.counts.members >= FLOW_MEMBERS_MAX {
        let detail = format!(
            "flow {} has {FLOW_MEMBERS_MAX} members, which is all it may have",
            loaded.flow.id
        );
        return Err(Code::GraphTooLarge.because(detail));
    }
    Ok(())
}

fn check_namespace(loaded: Loaded<'_>, execution: &Execution) -> Result<(), Rejection> {
    if execution.definition.namespace != loaded.flow.namespace {
        let (id, flow) = (execution.id, loaded.flow.id);
        return Err(Code::InvalidInput.because(format!("execution {id} and flow {flow} are of different namespaces")));
    }
    Ok(())
}

fn depend(
    draft: &mut Draft,
    member: &mut Execution,
    membership: Membership<'_>,
    context: &Context,
) -> Result<(), Rejection> {
    if let Some(dependencies) = &member.dependencies {
        group::check_policy(dependencies.policy)?;
    }
    if membership.depends_on.is_empty() {
        return Ok(());
    }
    check_distinct(member.id, membership.depends_on)?;
    let mut dependencies = member.dependencies.take().unwrap_or_else(no_edges);
    draw(draft, member.id, dependencies.policy, membership, context)?;
    let counts = Counts::default().after(member.id, draft);
    let verdict = verdict(dependencies.policy, &counts);
    dependencies.fixed = true;
    dependencies.no_results &= !takes_results(membership);
    dependencies.waiting = verdict != Verdict::Satisfied || member.unopened;
    dependencies.unsatisfied = counts.unsatisfied();
    let decided = verdict == Verdict::Satisfied && !member.unopened;
    member.follow_ups.cancel_siblings = decided && dependencies.policy.cancels_remaining() && counts.unresolved > 0;
    if verdict == Verdict::Impossible {
        draft.nudge(Nudge::always(RecordKey::Execution(member.id)));
    }
    member.dependencies = Some(dependencies);
    Ok(())
}

/// Adds dependencies of a member of a flow that is not open yet, so that nobody decides its group meanwhile: it is decided
/// when the flow is opened.
pub(crate) fn depend_further(
    draft: &mut Draft,
    member: &Execution,
    membership: Membership<'_>,
    context: &Context,
) -> Result<(), Rejection> {
    membership.flow.check_takes_members()?;
    check_member(membership.flow, member)?;
    let mut change = Change::begin(member, context)?;
    let waits = change.after.runnable().is_some();
    let dependencies = change.after.dependencies.get_or_insert_with(no_edges);
    dependencies.fixed = true;
    dependencies.no_results &= !takes_results(membership);
    dependencies.waiting |= waits;
    draw(draft, member.id, dependencies.policy, membership, context)?;
    dependencies.unsatisfied += Counts::default().after(member.id, draft).unsatisfied();
    draft.merge(change.finish_written(()).draft);
    Ok(())
}

/// Creates the edges into `downstream` and counts them.
fn draw(
    draft: &mut Draft,
    downstream: ExecutionId,
    join: EdgeGroupPolicy,
    membership: Membership<'_>,
    context: &Context,
) -> Result<(), Rejection> {
    let revision = grow(draft, membership.flow, membership.depends_on.len() as u64, context);
    for (position, on) in (1..).zip(membership.depends_on) {
        let upstream = upstream_of(draft, membership, on.upstream)?;
        let edge = new_edge(downstream, on, revision + position, membership, context);
        let edge = count(draft, edge, &upstream, join);
        draft.create(edge);
    }
    Ok(())
}

fn takes_results(membership: Membership<'_>) -> bool {
    membership.depends_on.iter().any(|on| on.data_passing_ref.is_some())
}

fn check_distinct(id: ExecutionId, depends_on: &[DependsOn]) -> Result<(), Rejection> {
    if depends_on.len() > BATCH_ITEMS_MAX {
        let detail = format!(
            "{} dependencies, more than {BATCH_ITEMS_MAX}: use create_flow_graph",
            depends_on.len()
        );
        return Err(Code::BatchTooLarge.because(detail));
    }
    let mut seen = BTreeSet::new();
    for on in depends_on {
        if on.upstream == id {
            return Err(Code::SelfReferencingEdge.because(format!("execution {id} cannot depend on itself")));
        }
        if !seen.insert(on.upstream) {
            return Err(Code::DependencyAlreadyExists.because(format!("{} is named twice in depends_on", on.upstream)));
        }
    }
    let mut names = BTreeSet::new();
    if let Some(name) = depends_on
        .iter()
        .filter_map(|on| on.data_passing_ref.as_ref())
        .find(|name| !names.insert(*name))
    {
        return Err(named_twice(id, name));
    }
    let mut edge_ids = BTreeSet::new();
    match depends_on
        .iter()
        .filter_map(|on| on.edge_id)
        .find(|edge_id| !edge_ids.insert(*edge_id))
    {
        Some(twice) => Err(Code::DependencyAlreadyExists.because(format!("edge {twice} is named twice in depends_on"))),
        None => Ok(()),
    }
}

/// The upstream as the draft creates it, or as it was loaded; then it must not change before this is committed.
fn upstream_of(draft: &mut Draft, membership: Membership<'_>, id: ExecutionId) -> Result<Execution, Rejection> {
    if let Some(created) = draft.execution(id) {
        return Ok(created.clone());
    }
    let Some(upstream) = membership.upstreams.iter().find(|upstream| upstream.id == id) else {
        let flow = membership.flow.flow.id;
        return Err(Code::ExecutionNotInFlow.because(format!("execution {id} is not a member of flow {flow}")));
    };
    check_member(membership.flow, upstream)?;
    draft.guard(RecordKey::Execution(id));
    Ok((*upstream).clone())
}

fn new_edge(
    downstream: ExecutionId,
    on: &DependsOn,
    graph_revision: u64,
    membership: Membership<'_>,
    context: &Context,
) -> Edge {
    Edge {
        id: on.edge_id.unwrap_or_else(|| Edge::id_between(on.upstream, downstream)),
        flow_id: membership.flow.flow.id,
        upstream: on.upstream,
        downstream,
        kind: on.dependency_kind,
        data_passing_ref: on.data_passing_ref.clone(),
        state: EdgeState::Staged,
        join: EdgeGroupPolicy::default(),
        graph_revision,
        created_at: context.now,
        carried: Default::default(),
    }
}

fn replace_created(draft: &mut Draft, member: Execution) {
    for write in &mut draft.writes {
        if let Write::Create { record, .. } = write
            && record.key() == RecordKey::Execution(member.id)
        {
            *record = Record::from(member);
            return;
        }
    }
}

/// Makes a solo execution of the flow's partition a member, in whatever state it is. What was submitted stays as it was but
/// for the flow it names.
pub fn add(
    execution: &Execution,
    loaded: Loaded<'_>,
    partition: Partition,
    context: &Context,
) -> Result<Decided<Joined>, Rejection> {
    loaded.check_takes_members()?;
    let id = execution.id;
    let mut change = Change::begin(execution, context)?;
    let node_count = loaded.counts.members;
    match execution.definition.flow {
        Some(flow) if flow == loaded.flow.id => return Ok(change.finish(Joined::AlreadyMember { node_count })),
        Some(flow) => {
            return Err(
                Code::AlreadyMemberOfDifferentFlow.because(format!("execution {id} is a member of flow {flow}"))
            );
        }
        None => {}
    }
    if id.partition() != partition {
        let detail = format!(
            "execution {id} does not live in {partition}, the partition of flow {}",
            loaded.flow.id
        );
        return Err(Code::PartitionMismatch.because(detail));
    }
    check_room(loaded)?;
    check_namespace(loaded, execution)?;
    if loaded.gate == GateState::Assembling {
        change.drop_grant(Happening::GrantDropped);
    }
    Ok(adopt(change, loaded))
}

/// Finishes the change of a solo execution as one of a member: it is counted whole, not by what changed about it.
fn adopt(change: Change<'_>, loaded: Loaded<'_>) -> Decided<Joined> {
    let (context, now, mut member) = (change.context, change.now, change.after.clone());
    let mut draft = change.finish(()).draft;
    draft
        .writes
        .retain(|write| !matches!(write, Write::Put(record) if record.key() == RecordKey::Execution(member.id)));
    member.definition = Arc::new(Definition {
        flow: Some(loaded.flow.id),
        ..(*member.definition).clone()
    });
    member.unopened = loaded.gate == GateState::Assembling && !member.is_terminal();
    if let Phase::Terminal(outcome) = &mut member.phase {
        // It lives as long as its flow now.
        outcome.delete_at = None;
    }
    member.updated_at = now;
    draft
        .history
        .push(history_line(&member, now, Happening::MemberAdded, context, None));
    count_member(&mut draft, loaded.flow.id, None, Some(public_state(&member)));
    if let Some(flow) = kept_for(&member, loaded, now) {
        draft.put(flow);
    }
    draft.put(member);
    draft.guard(RecordKey::Gate(loaded.flow.id));
    draft.nudge(Nudge::always(RecordKey::Flow(loaded.flow.id)));
    Decided {
        outcome: Joined::Added {
            node_count: loaded.counts.members + 1,
        },
        draft,
    }
}

/// The flow, if it must be kept longer because of a member it is given: for as long as that one would have been kept, and
/// beyond the hour it may stay unopened if that one has run.
fn kept_for(member: &Execution, loaded: Loaded<'_>, now: Timestamp) -> Option<Flow> {
    let ran = member.has_run() || member.is_terminal();
    let mut flow = loaded.flow.clone();
    flow.in_use |= ran && loaded.gate == GateState::Assembling;
    flow.retention = flow.retention.at_least(member.definition.policy.retention());
    if flow == *loaded.flow {
        return None;
    }
    flow.updated_at = now.max(flow.updated_at);
    Some(flow)
}
