//! No member is claimed behind a gate that does not let it pass. A cancellation closes the gate before it answers, so this
//! says as well that nothing is claimed after a flow's cancel returned. Nor does a member go back to its queue behind it.

use ff_core::id::FlowId;
use ff_core::record::GateState;

use super::mirror::{Changes, Mirror};
use super::{Holds, hold};

/// Looks at every lease a transaction took.
pub(crate) fn check(mirror: &Mirror, changes: &Changes) -> Holds {
    for execution in claimed(changes) {
        let Some(flow) = execution.definition.flow else {
            continue;
        };
        let gate = mirror.gates.get(&flow);
        hold(
            matches!(gate, Some(GateState::Open | GateState::Sealed)) && !execution.unopened,
            "no member is claimed behind a closed gate",
            || format!("{} of flow {flow} was claimed behind {gate:?}", execution.id),
        )?;
    }
    Ok(())
}

/// A member that leaves its lease behind a cancelled gate ends: it neither waits nor goes back to its queue.
pub(crate) fn nobody_goes_on_behind_a_cancelled_one(mirror: &Mirror, changes: &Changes) -> Holds {
    for (before, after) in changes.executions.iter().filter_map(|transition| transition.both()) {
        let Some(flow) = after.definition.flow.filter(|_| before.lease().is_some()) else {
            continue;
        };
        let goes_on = after.lease().is_none() && !after.is_terminal();
        let cancelled = mirror.gates.get(&flow) == Some(&GateState::Cancelled);
        hold(
            !(goes_on && cancelled),
            "no member goes on behind a cancelled gate",
            || format!("{} of flow {flow} left its lease and is {:?}", after.id, after.phase),
        )?;
    }
    Ok(())
}

/// A cancellation that was answered has closed the gate.
pub(crate) fn cancelled_gate_is_closed(mirror: &Mirror, flow: FlowId) -> Holds {
    let gate = mirror.gates.get(&flow);
    hold(
        matches!(gate, None | Some(GateState::Cancelled)),
        "a cancelled flow has a closed gate",
        || format!("flow {flow} was cancelled, and its gate is {gate:?}"),
    )
}

/// Executions that a transaction gave to a worker.
pub(crate) fn claimed(changes: &Changes) -> impl Iterator<Item = &ff_core::record::Execution> {
    changes.executions.iter().filter_map(|transition| {
        let after = transition.after.as_deref()?;
        let lease = after.lease()?;
        let held = transition.before.as_deref().and_then(|before| before.lease());
        held.is_none_or(|held| held.id != lease.id).then_some(after)
    })
}
