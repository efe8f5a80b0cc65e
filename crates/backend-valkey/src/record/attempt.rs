//! The attempt of an execution in plain words: who may append to its output, or who may get the next one.

use ff_core::machine::claim::needs_admission;
use ff_core::record::{Execution, Runnable};
use ff_core::state::public_state;

use crate::keys::lane;

/// Begins with the index of the attempt, and goes on with `leased` and the fence, `next` and what `reserve` must know, `ended`, or
/// `open`. Nothing before there was one.
pub(crate) fn attempt(execution: &Execution) -> String {
    if let Some(runnable) = execution.runnable() {
        return next(execution, runnable);
    }
    let Some(attempt) = &execution.attempt else {
        return String::new();
    };
    let index = attempt.index;
    match execution.lease().filter(|lease| !lease.is_expired()) {
        Some(lease) => {
            let (epoch, expires_at, secret) = (lease.epoch, lease.expires_at.as_millis(), lease.id.expose());
            format!("{index} leased {epoch} {expires_at} {secret} {}", attempt.id)
        }
        None if attempt.end.is_some() => format!("{index} ended"),
        None => format!("{index} open"),
    }
}

/// `<index> next <nothing admits it> <attempt that goes on> <when it is due anyway> <updated> <epoch> <state> <namespace>/<lane>
/// <kind> <flow>`.
fn next(execution: &Execution, runnable: &Runnable) -> String {
    let next = &runnable.next_claim;
    let free = u8::from(!needs_admission(execution));
    let attempt = execution.attempt.as_ref().filter(|_| next.continues);
    let attempt = attempt.map_or_else(|| "-".to_owned(), |attempt| attempt.id.to_string());
    let cap = match execution.outbox.is_empty() && !execution.follow_ups.any() {
        true => execution
            .deadline_at
            .map_or_else(|| "-".to_owned(), |at| at.as_millis().to_string()),
        false => "now".to_owned(),
    };
    let (index, updated_at) = (next.attempt_index, execution.updated_at.as_millis());
    let (definition, epoch) = (&execution.definition, execution.lease_epoch);
    let (state, kind) = (public_state(execution).as_str(), &definition.kind);
    let lane = lane(&definition.namespace, &definition.lane);
    let flow = definition.flow.map_or_else(String::new, |flow_id| flow_id.to_string());
    format!("{index} next {free} {attempt} {cap} {updated_at} {epoch} {state} {lane} {kind} {flow}")
}
