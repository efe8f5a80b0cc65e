//! No child starts before its dependencies hold, as a recount of its edges says.

use ff_core::id::ExecutionId;
use ff_core::record::{DependencyKind, Edge, EdgeGroupPolicy, EdgeState, Execution, OutcomeKind};

use super::gates::claimed;
use super::mirror::{Changes, Mirror};
use super::{Holds, hold};

/// Looks at every edge, every child that stopped waiting and every lease of a transaction.
pub(crate) fn check(mirror: &Mirror, changes: &Changes) -> Holds {
    for transition in &changes.edges {
        let satisfied_before = transition
            .before
            .as_ref()
            .is_some_and(|edge| edge.state == EdgeState::Satisfied);
        if let Some(edge) = transition.after.as_deref().filter(|_| !satisfied_before) {
            edge_resolves_by_its_upstream(mirror, edge)?;
        }
    }
    for (before, after) in changes.executions.iter().filter_map(|transition| transition.both()) {
        if waits(before) && after.runnable().is_some() && !waits(after) {
            dependencies_hold(mirror, after, "stopped waiting")?;
        }
    }
    for execution in claimed(changes) {
        hold(!execution.waits_for_dependencies(), INVARIANT, || {
            format!("{} was claimed while it waited", execution.id)
        })?;
        let ran_before = execution
            .attempt
            .as_ref()
            .is_some_and(|attempt| attempt.index > 0 || attempt.lease_epoch > 1);
        if !ran_before {
            dependencies_hold(mirror, execution, "was claimed")?;
        }
    }
    Ok(())
}

const INVARIANT: &str = "no child starts before its dependencies hold";

fn waits(execution: &Execution) -> bool {
    execution
        .dependencies
        .as_ref()
        .is_some_and(|dependencies| dependencies.waiting)
}

/// An edge that becomes satisfied has an upstream that ended in a way that counts.
fn edge_resolves_by_its_upstream(mirror: &Mirror, edge: &Edge) -> Holds {
    if edge.state != EdgeState::Satisfied {
        return Ok(());
    }
    let outcome = mirror
        .executions
        .get(&edge.upstream)
        .and_then(|upstream| upstream.outcome());
    let counts =
        outcome.is_some_and(|outcome| edge.kind == DependencyKind::AnyTerminal || outcome.kind == OutcomeKind::Success);
    hold(counts, INVARIANT, || {
        let Edge {
            upstream, downstream, ..
        } = edge;
        format!("the edge {upstream} → {downstream} is satisfied, but its upstream is {outcome:?}")
    })
}

fn dependencies_hold(mirror: &Mirror, child: &Execution, what: &str) -> Holds {
    let policy = child
        .dependencies
        .as_ref()
        .map_or(EdgeGroupPolicy::AllOf, |dependencies| dependencies.policy);
    let (satisfied, applied) = recount(mirror, child.id);
    let needed = match policy {
        EdgeGroupPolicy::AllOf => applied,
        EdgeGroupPolicy::AnyOf { .. } => applied.min(1),
        EdgeGroupPolicy::Quorum { k, .. } if applied > 0 => k as usize,
        EdgeGroupPolicy::Quorum { .. } => 0,
    };
    hold(satisfied >= needed, INVARIANT, || {
        format!(
            "{} {what} with {satisfied} of {applied} edges satisfied under {policy:?}",
            child.id
        )
    })
}

/// Whether a child waits for what does not come by itself: a quorum that has too few edges, and nothing has failed; or,
/// once it was skipped and replayed, an upstream that ended badly and was not replayed.
pub(crate) fn wait_for_a_person(mirror: &Mirror, child: &Execution) -> bool {
    if !waits(child) {
        return false;
    }
    let policy = child.dependencies.as_ref().map(|dependencies| dependencies.policy);
    let (_, applied) = recount(mirror, child.id);
    let too_few = matches!(policy, Some(EdgeGroupPolicy::Quorum { k, .. }) if applied < k as usize);
    let ended = |edge: &Edge| {
        let upstream = mirror.executions.get(&edge.upstream);
        upstream.is_none_or(|upstream| upstream.is_terminal() && !upstream.follow_ups.any())
    };
    let replayed = child.counts.replays > 0
        && mirror
            .edges_into(child.id)
            .any(|edge| edge.state == EdgeState::Unresolved && ended(edge));
    too_few || replayed
}

/// How many applied edges lead into an execution, and how many of them are satisfied.
fn recount(mirror: &Mirror, downstream: ExecutionId) -> (usize, usize) {
    let applied: Vec<_> = mirror
        .edges_into(downstream)
        .filter(|edge| edge.state != EdgeState::Staged)
        .collect();
    let satisfied = applied.iter().filter(|edge| edge.state == EdgeState::Satisfied).count();
    (satisfied, applied.len())
}
