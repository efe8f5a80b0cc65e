//! When the faults stop and time runs on, everything that can end does end, and nothing is left to do.

use ff_backend::due::{Due, DueItem};
use ff_core::machine::placement::{Placement, placement};
use ff_core::partition::Family;
use ff_core::record::{Cause, Execution};
use ff_core::time::Duration;

use super::mirror::Mirror;
use super::watch::Store;
use super::{Holds, Violation, hold};

/// How many stuck executions are shown.
const SHOWN: usize = 5;
/// What became due this little ago is being seen to: a budget that starts again every few seconds is due at any moment.
const PROMPT: Duration = Duration::from_secs(1);

/// Executions that have not ended.
pub(crate) fn open(mirror: &Mirror) -> impl Iterator<Item = &Execution> {
    mirror
        .executions
        .values()
        .map(AsRef::as_ref)
        .filter(|execution| !execution.is_terminal())
}

/// Everything has ended. Asked when workers have had all the time they need.
pub(crate) fn everything_ended(mirror: &Mirror) -> Holds {
    let stuck: Vec<String> = open(mirror).take(SHOWN).map(describe).collect();
    hold(stuck.is_empty(), "everything that can end does end", || {
        let count = open(mirror).count();
        format!("{count} executions are stuck:\n    {}", stuck.join("\n    "))
    })
}

/// Nothing is due, owed or blocked any more.
pub(crate) fn nothing_is_left_to_do(mirror: &Mirror, store: &Store) -> Holds {
    let partitions = Family::ALL.into_iter().flat_map(|family| store.counts.all(family));
    let due = store.due(Due {
        partitions: partitions.collect(),
        limit: SHOWN,
    });
    let stays = |item: &&DueItem| (item.due_at + PROMPT).has_come(due.now);
    let left: Vec<&DueItem> = due.items.iter().filter(stays).collect();
    hold(left.is_empty(), "nothing stays due", || format!("still due: {left:?}"))?;
    for execution in mirror.executions.values() {
        let owes = !execution.outbox.is_empty() || execution.follow_ups.any();
        hold(!owes, "nothing is owed for ever", || {
            format!("owes: {}", describe(execution))
        })?;
    }
    nothing_is_blocked(mirror, store)?;
    for flow in mirror.flows.values() {
        let busy = flow.opening || flow.cancelling || flow.deleting;
        hold(!busy, "nothing is owed for ever", || {
            format!("flow {} is still busy: {flow:?}", flow.id)
        })?;
    }
    Ok(())
}

/// No work waits for a limit that is there. True soon after all of them were lifted: the audit, which mends whatever it is,
/// is later.
pub(crate) fn nothing_is_blocked(mirror: &Mirror, store: &Store) -> Holds {
    let is_blocked = |execution: &&Execution| blocked_by(execution).is_some_and(|cause| exists(mirror, store, cause));
    let blocked = open(mirror).find(is_blocked);
    hold(blocked.is_none(), "nothing is blocked by an open cause", || {
        blocked.map(describe).unwrap_or_default()
    })
}

/// What an execution is blocked by.
pub(crate) fn blocked_by(execution: &Execution) -> Option<Cause> {
    match placement(execution) {
        Placement::Blocked { cause, .. } => Some(cause),
        _ => None,
    }
}

/// Whether a budget or quota policy is there, or was and was deleted. Work under one that a failover lost stays blocked
/// until somebody creates it again, or cancels the work.
pub(crate) fn exists(mirror: &Mirror, store: &Store, cause: Cause) -> bool {
    let deleted = match cause {
        Cause::Budget(id) => mirror.deleted_budgets.contains(&id),
        Cause::Quota(id) => mirror.deleted_policies.contains(&id),
    };
    deleted || store.has(cause)
}

/// Nothing whose retention is over is still there.
pub(crate) fn everything_is_deleted(mirror: &Mirror) -> Holds {
    let kept = |execution: &&Execution| execution.definition.policy.retention().is_some();
    let solo = |execution: &&Execution| execution.definition.flow.is_none();
    let left = mirror.executions.values().map(AsRef::as_ref).filter(kept).find(solo);
    let flow = mirror.flows.values().find(|flow| flow.retention.duration().is_some());
    match (left, flow) {
        (None, None) => Ok(()),
        (left, flow) => Err(Violation {
            invariant: "what nobody needs any more is deleted",
            detail: format!("{:?} {flow:?}", left.map(describe)),
        }),
    }
}

fn describe(execution: &Execution) -> String {
    let Execution {
        id,
        phase,
        hold,
        unopened,
        dependencies,
        outbox,
        follow_ups,
        ..
    } = execution;
    let flow = execution.definition.flow;
    let requires = &execution.definition.policy;
    format!(
        "{id} {phase:?} hold {hold:?} unopened {unopened} {dependencies:?} outbox {outbox:?} {follow_ups:?} flow {flow:?} policy {requires:?}"
    )
}
