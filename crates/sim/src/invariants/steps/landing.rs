//! What recordings do to the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use ff_backend::load::{Load, LoadSteps};
use ff_core::id::ExecutionId;
use ff_core::record::{Execution, Step, StepKind};

use super::{Asked, replays, waits};
use crate::invariants::mirror::{Changes, Mirror, Transition};
use crate::invariants::watch::Store;
use crate::invariants::{Holds, hold};

/// More steps than any execution of a world has.
const PAGE: usize = 1_000;

/// Looks at what a transaction did to steps and to what executions know of them.
pub(crate) fn check(mirror: &mut Mirror, changes: &Changes, asked: &Asked) -> Holds {
    for transition in &changes.executions {
        if transition.before.is_none()
            && let Some(after) = &transition.after
        {
            // Another execution may have had its id before.
            mirror.places.remove(&after.id);
        }
    }
    for transition in &changes.steps {
        match &transition.after {
            Some(after) => lands(mirror, changes, (transition, after), asked)?,
            None => goes(mirror, transition)?,
        }
    }
    for transition in &changes.executions {
        if let Some((before, after)) = transition.both() {
            replays::check(mirror, (before, after), asked)?;
            waits::check(mirror, (before, after), changes)?;
        }
        if let Some(after) = transition.after.as_deref() {
            counts_right(mirror, after)?;
        }
    }
    Ok(())
}

/// A step was written.
fn lands(
    mirror: &mut Mirror,
    changes: &Changes,
    (transition, step): (&Transition<Step>, &Arc<Step>),
    asked: &Asked,
) -> Holds {
    let (id, seq, key) = (step.execution_id, step.seq, &step.key);
    let execution = changes.executions.iter().filter_map(Transition::both);
    let execution = execution.into_iter().find(|(before, _)| before.id == id);
    let Some((before, after)) = execution else {
        return hold(false, "a step is recorded with its execution", || {
            format!("{id}: step {key} was written alone")
        });
    };
    place_is_new(mirror, (before, after), step)?;
    hold(
        by_the_holder(before, step),
        "a step is recorded by the live lease",
        || {
            let (recorded, live) = (step.lease_epoch, before.lease_epoch);
            format!("{id}: step {key} was recorded under epoch {recorded}, and the last one is {live}")
        },
    )?;
    let taken = transition
        .before
        .as_deref()
        .filter(|taken| mirror.remembers(before, taken));
    let replaced = taken.is_none_or(|taken| asked.replacements.contains(&(id, key.clone(), taken.seq)));
    hold(replaced, "a name has one live step", || {
        let at = taken.map(|taken| taken.seq);
        format!("{id}: step {key} is at {at:?}, and was recorded again at {seq}, which nobody asked for")
    })?;
    mirror.places.entry(id).or_default().insert(seq, Arc::clone(step));
    mirror.costs.charge(step);
    Ok(())
}

/// Whether the lease that recorded a step was the live one; a wait ends without one.
fn by_the_holder(before: &Execution, step: &Step) -> bool {
    let held = before.lease().is_some() || step.kind == StepKind::Wait;
    held && step.lease_epoch == before.lease_epoch
}

/// A place is given once, in order; that of a wait when it begins.
fn place_is_new(mirror: &Mirror, (before, after): (&Execution, &Execution), step: &Step) -> Holds {
    let (id, seq) = (step.execution_id, step.seq);
    let first = mirror.places.get(&id).and_then(|places| places.get(&seq));
    hold(first.is_none(), "a place names one step", || {
        format!("{id}: at {seq} are {first:?} and {step:?}")
    })?;
    let waited = before.suspension().and_then(|suspension| suspension.step.as_ref());
    let given = waited.is_some_and(|wait| wait.seq == seq && wait.key == step.key);
    let next = before.steps.next_seq;
    hold(
        seq < after.steps.next_seq && (given || seq >= next),
        "a place names one step",
        || format!("{id}: {seq} was given to {:?} when {next} was the next one", step.key),
    )
}

/// A step was removed: with its execution, or to make room for another one when a replay had forgotten it.
fn goes(mirror: &Mirror, transition: &Transition<Step>) -> Holds {
    let Some(step) = transition.before.as_deref() else {
        return Ok(());
    };
    let execution = mirror.executions.get(&step.execution_id);
    let unneeded = execution.is_none_or(|execution| is_going(mirror, execution) || execution.steps.has_forgotten(step));
    hold(unneeded, "a recorded step stays", || {
        let (id, key, seq) = (step.execution_id, &step.key, step.seq);
        format!("{id}: step {key} at {seq} was removed")
    })
}

/// Whether an execution is on its way out, alone or with its flow.
pub(super) fn is_going(mirror: &Mirror, execution: &Execution) -> bool {
    let flow = execution.definition.flow;
    let with_flow = flow.is_some_and(|flow| mirror.flows.get(&flow).is_none_or(|flow| flow.deleting));
    execution.is_deleting() || with_flow
}

/// What an execution says of its steps is what a recount finds.
fn counts_right(mirror: &Mirror, execution: &Execution) -> Holds {
    if is_going(mirror, execution) {
        return Ok(());
    }
    let (id, known) = (execution.id, &execution.steps);
    let live = mirror.live_steps(execution);
    let bytes: u64 = live.iter().filter_map(|step| step.output_bytes).sum();
    hold(
        (known.count, known.bytes) == (live.len() as u64, bytes),
        "an execution counts its steps right",
        || {
            let (count, of) = (live.len(), known.count);
            format!(
                "{id} says {of} steps of {} bytes, and has {count} of {bytes}",
                known.bytes
            )
        },
    )?;
    let last = mirror.places.get(&id).and_then(|places| places.keys().last().copied());
    hold(
        last.is_none_or(|last| last < known.next_seq),
        "a place names one step",
        || format!("{id} would give {} next, and {last:?} is taken", known.next_seq),
    )
}

/// The store has the steps that were seen to land, and finds them in their order.
pub(crate) fn check_all(mirror: &Mirror, store: &Store) -> Holds {
    for execution in mirror.executions.values() {
        counts_right(mirror, execution)?;
        if execution.steps.next_seq > 0 {
            is_stored(mirror, store, execution.id)?;
        }
    }
    Ok(())
}

fn is_stored(mirror: &Mirror, store: &Store, id: ExecutionId) -> Holds {
    let all = LoadSteps {
        execution_id: id,
        from_seq: 0,
        limit: PAGE,
        output_bytes: 0,
    };
    let stored = store.load(Load::records(id.partition(), []).with_steps([all]));
    let seen = mirror.steps.get(&id).into_iter().flat_map(BTreeMap::values);
    let mut seen: Vec<&Step> = seen.map(Arc::as_ref).collect();
    seen.sort_unstable_by_key(|step| step.seq);
    hold(stored.steps(id) == seen, "a recorded step stays", || {
        format!("{id} has {:?}, and these were recorded: {seen:?}", stored.steps(id))
    })
}
