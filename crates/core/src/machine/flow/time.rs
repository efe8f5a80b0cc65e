//! What counters and time do to a flow: it ends, comes back, and is deleted when nobody needs it any more.

use super::Loaded;
use super::life::flow_line;
use crate::limits::{ASSEMBLING_MAX, RETENTION_DEFAULT};
use crate::machine::context::Context;
use crate::machine::decided::{Decided, Draft, Nudge};
use crate::record::{Flow, Gate, GateState, Happening, RecordKey};
use crate::time::Timestamp;

/// The moment a flow next needs attention.
pub fn due_at(flow: &Flow) -> Option<Timestamp> {
    if flow.opening || flow.cancelling || flow.deleting {
        return Some(flow.updated_at);
    }
    delete_at(flow)
}

/// When its retention is over.
fn delete_at(flow: &Flow) -> Option<Timestamp> {
    if flow.delete_requested {
        return Some(flow.updated_at);
    }
    if flow.opened_at.is_none() && flow.cancellation.is_none() {
        return (!flow.in_use).then(|| flow.created_at + ASSEMBLING_MAX);
    }
    if !flow.populated {
        return Some(flow.created_at + RETENTION_DEFAULT);
    }
    Some(flow.ended_at? + flow.retention.duration()?)
}

/// Looks at a flow that is due or was nudged. Opening, cancelling and deleting members is follow-up work of its own.
///
/// Deleting takes two steps. A member joins by guarding on the gate, which does not move it; so counters read before the
/// gate closed may miss one. The first step closes the gate; the second, with counters read after that, deletes the flow,
/// or opens the gate again for whoever slipped in.
pub fn advance(loaded: Loaded<'_>, context: &Context) -> Decided<()> {
    let now = loaded.now(context);
    let mut flow = loaded.flow.clone();
    let mut draft = Draft::default();
    observe(&mut flow, loaded, context, &mut draft);
    let gate = next_gate(&mut flow, loaded, now);
    if flow.deleting && !loaded.flow.deleting {
        draft.history.push(flow_line(&flow, context, Happening::Deleting, None));
    }
    if flow.ended_at != loaded.flow.ended_at || flow.populated != loaded.flow.populated {
        // Whoever looked meanwhile and found nothing to write has taken the nudge with it; and a failover may have taken the
        // members this was decided from: look once more.
        draft.nudge(Nudge::always(RecordKey::Flow(flow.id)));
    }
    if gate != loaded.gate {
        draft.put(Gate {
            flow_id: flow.id,
            state: gate,
        });
    }
    if flow != *loaded.flow {
        flow.updated_at = now;
        draft.put(flow);
    }
    Decided { outcome: (), draft }
}

/// Takes over what the counters say.
fn observe(flow: &mut Flow, loaded: Loaded<'_>, context: &Context, draft: &mut Draft) {
    flow.populated = loaded.counts.members > 0;
    let ended = loaded.counts.members > 0 && loaded.counts.open == 0;
    if ended && flow.ended_at.is_none() {
        flow.ended_at = Some(loaded.now(context));
        draft.history.push(flow_line(flow, context, Happening::FlowEnded, None));
    }
    if !ended && flow.ended_at.take().is_some() {
        draft
            .history
            .push(flow_line(flow, context, Happening::FlowReopened, None));
    }
}

/// The gate as it should stand now; marks the flow as deleting when its time has come.
fn next_gate(flow: &mut Flow, loaded: Loaded<'_>, now: Timestamp) -> GateState {
    let gate = loaded.gate;
    if flow.opening || flow.cancelling || flow.deleting {
        return gate;
    }
    let in_use = loaded.is_in_use();
    if in_use {
        flow.delete_requested = false;
    }
    let over = !in_use && delete_at(flow).is_some_and(|at| at.has_come(now));
    let closed_to_delete = gate == GateState::Sealed && flow.cancellation.is_none();
    match gate {
        GateState::Assembling if over => {
            flow.deleting = true;
            GateState::Cancelled
        }
        GateState::Open if over => GateState::Sealed,
        GateState::Sealed | GateState::Cancelled if over => {
            flow.deleting = true;
            gate
        }
        GateState::Sealed if closed_to_delete => GateState::Open,
        _ => gate,
    }
}
