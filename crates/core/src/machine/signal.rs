//! Signals: who may deliver one, whether it came before, and what it does.
//!
//! A signal to a *pending* waitpoint writes that waitpoint and never an execution whose lease is live, so that the holder
//! does not conflict. A signal to an *active* one writes the execution, and loses to the suspension's timeout.

use super::change::Change;
use super::condition::{self, Arrival, Counted};
use super::context::Context;
use super::decided::Decided;
use super::resume::{resume, timeout_signal_id};
use super::waitpoint::{claims, closed, waitpoint_state};
use super::{suspend, time};
use crate::command::signal::{DeliverSignal, Delivered};
use crate::command::waitpoint::WaitpointState;
use crate::error::{Code, Rejection};
use crate::id::SignalId;
use crate::keyring::KeyRing;
use crate::limits::SIGNAL_PAYLOAD_BYTES_MAX;
use crate::name::NAME_BYTES_MAX;
use crate::record::{
    BlobKey, CounterKey, Execution, Happening, Phase, Record, ResumedBy, Signal, SignalEffect, SignalKeyRecord,
    Waitpoint, WaitpointUse,
};
use crate::time::Timestamp;
use crate::token::WaitpointToken;

/// What was loaded for a signal.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The execution.
    pub execution: &'a Execution,
    /// The waitpoint.
    pub waitpoint: &'a Waitpoint,
    /// The signal's id: its sender's, or a fresh one.
    pub signal_id: SignalId,
    /// The signal that has its id already.
    pub same_id: Option<&'a Signal>,
    /// The signal its idempotency key stands for already.
    pub same_key: Option<&'a SignalKeyRecord>,
    /// [`CounterKey::BufferedSignals`] of the execution.
    pub buffered_signals: u64,
}

/// Opens a waitpoint with its token: one answer, `invalid_token`, whether the token is wrong or there is no such waitpoint.
pub fn authenticate<'w>(
    waitpoint: Option<&'w Waitpoint>,
    token: &WaitpointToken,
    ring: &KeyRing,
    now: Timestamp,
) -> Result<&'w Waitpoint, Rejection> {
    let waitpoint = waitpoint.ok_or_else(WaitpointToken::refused)?;
    token.verify(ring, &claims(waitpoint.execution_id, &waitpoint.reference()), now)?;
    Ok(waitpoint)
}

/// Whose signal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// Whoever has the token: its signals count against the limit of the execution.
    Holder,
    /// A person who decides. What holders sent must not keep a person from deciding, so these signals never count.
    Person,
}

/// Delivers a signal whose sender was authenticated. A repetition is recognised by its id or its key, and answered before
/// anything else is looked at.
pub fn deliver(
    target: Target<'_>,
    command: &DeliverSignal,
    context: &Context,
) -> Result<Decided<Delivered>, Rejection> {
    deliver_from(Sender::Holder, target, command, context)
}

/// The same for a signal of this sender.
pub(crate) fn deliver_from(
    sender: Sender,
    target: Target<'_>,
    command: &DeliverSignal,
    context: &Context,
) -> Result<Decided<Delivered>, Rejection> {
    if let Some(existing_signal_id) = delivered_before(target) {
        return Ok(Decided::unchanged(Delivered::before(existing_signal_id)));
    }
    let mut change = Change::begin(target.execution, context)?;
    check_signalable(&mut change)?;
    let state = waitpoint_state(target.waitpoint, &change.after, change.now);
    if let WaitpointState::Closed(reason) = state {
        return Err(closed(target.waitpoint, reason));
    }
    check_content(command)?;
    check_id(&change.after, target.signal_id)?;
    if sender == Sender::Holder {
        check_limit(&change.after, target.buffered_signals)?;
        count_against_limit(&mut change, state);
    }
    Ok(match state {
        WaitpointState::Active => arrive(change, target, command),
        _ => buffer(change, target, command),
    })
}

fn delivered_before(target: Target<'_>) -> Option<SignalId> {
    let by_key = || target.same_key.map(|key| key.signal_id);
    target.same_id.map(|signal| signal.id).or_else(by_key)
}

/// An ended execution takes no signals; nor does a suspended member of a cancelled flow, which only waits to be cancelled.
fn check_signalable(change: &mut Change<'_>) -> Result<(), Rejection> {
    let id = change.after.id;
    if change.after.is_terminal() {
        return Err(Code::TargetNotSignalable.because(format!("execution {id} has ended")));
    }
    if change.after.suspension().is_some() && !change.pass_gate() {
        return Err(Code::TargetNotSignalable.because(format!("the flow of execution {id} is cancelled")));
    }
    Ok(())
}

fn check_content(command: &DeliverSignal) -> Result<(), Rejection> {
    let length = command.payload.len();
    if length > SIGNAL_PAYLOAD_BYTES_MAX {
        let detail = format!("the signal's payload has {length} bytes, more than {SIGNAL_PAYLOAD_BYTES_MAX}");
        return Err(Code::PayloadTooLarge.because(detail));
    }
    check_label("category", &command.category)?;
    check_label("source_type", &command.source_type)?;
    check_label("correlation_id", command.correlation_id.as_deref().unwrap_or_default())
}

fn check_id(execution: &Execution, signal_id: SignalId) -> Result<(), Rejection> {
    let reserved = execution
        .suspension()
        .map(|suspension| timeout_signal_id(suspension.id));
    if reserved == Some(signal_id) {
        return Err(Code::InvalidInput.because("signal_id is reserved for the suspension's timeout"));
    }
    Ok(())
}

fn check_label(noun: &str, text: &str) -> Result<(), Rejection> {
    if text.len() > NAME_BYTES_MAX {
        let length = text.len();
        return Err(Code::InvalidInput.because(format!("{noun} has {length} bytes, more than {NAME_BYTES_MAX}")));
    }
    Ok(())
}

/// Exact but for signals that land on several pending waitpoints at the same time: these do not conflict, and may pass the
/// limit by as many.
fn check_limit(execution: &Execution, buffered_signals: u64) -> Result<(), Rejection> {
    let max = execution.definition.policy.signals_max();
    if u64::from(execution.counts.signals) + buffered_signals >= u64::from(max) {
        let id = execution.id;
        return Err(Code::SignalLimitExceeded.because(format!("execution {id} has accepted all of its {max} signals")));
    }
    Ok(())
}

/// At a pending waitpoint it is counted beside the record, which is not written.
fn count_against_limit(change: &mut Change<'_>, state: WaitpointState) {
    if state == WaitpointState::Active {
        change.after.counts.signals += 1;
    } else {
        change.draft.increment(CounterKey::BufferedSignals(change.after.id), 1);
    }
}

/// To an active waitpoint: it counts, and if the condition then holds the execution goes on.
fn arrive(mut change: Change<'_>, target: Target<'_>, command: &DeliverSignal) -> Decided<Delivered> {
    change.draft.not_after = time::lease_bound(&change.after);
    let mut signal = signal(&change, target, command);
    signal.effect = count(&mut change, target.waitpoint, &signal);
    change.note(Happening::Signalled, Some(told(&signal, target.waitpoint)));
    if signal.effect == SignalEffect::ResumeConditionSatisfied {
        resume(&mut change, ResumedBy::Signals, None);
    }
    let outcome = accepted(&signal);
    keep(&mut change, signal, command);
    change.finish(outcome)
}

fn count(change: &mut Change<'_>, waitpoint: &Waitpoint, signal: &Signal) -> SignalEffect {
    let Phase::Suspended(suspension) = &mut change.after.phase else {
        return SignalEffect::IgnoredNotInCondition;
    };
    let arrival = Arrival {
        waitpoint_key: &waitpoint.key,
        signal,
    };
    let counted = suspend::count(suspension, arrival);
    if condition::holds(&suspension.condition, &suspension.progress) {
        return SignalEffect::ResumeConditionSatisfied;
    }
    match counted {
        Counted::Forward | Counted::Known => SignalEffect::AppendedToWaitpoint,
        Counted::NotAsked => SignalEffect::IgnoredNotInCondition,
    }
}

/// To a pending waitpoint: it waits for the suspend that uses it. The execution is written only if something was due, and
/// then no lease on it is live.
fn buffer(mut change: Change<'_>, target: Target<'_>, command: &DeliverSignal) -> Decided<Delivered> {
    let mut waitpoint = target.waitpoint.clone();
    if let WaitpointUse::Pending { expires_at } = waitpoint.usage {
        change.draft.not_after = Some(expires_at);
    }
    let mut signal = signal(&change, target, command);
    signal.buffered_after = Some(waitpoint.buffered);
    waitpoint.buffered += 1;
    waitpoint.updated_at = change.now.max(waitpoint.updated_at);
    change.note(Happening::Signalled, Some(told(&signal, &waitpoint)));
    change.draft.put(waitpoint);
    let outcome = accepted(&signal);
    keep(&mut change, signal, command);
    change.finish(outcome)
}

/// A caller that somebody vouches for is the source, whatever it says.
fn signal(change: &Change<'_>, target: Target<'_>, command: &DeliverSignal) -> Signal {
    let verified = change.context.actor.identity();
    Signal {
        id: target.signal_id,
        execution_id: change.after.id,
        waitpoint_id: Some(target.waitpoint.id),
        name: command.signal_name.clone(),
        category: command.category.clone(),
        source_type: command.source_type.clone(),
        source_verified: verified.is_some(),
        source_identity: verified.unwrap_or_else(|| command.source_identity.clone()),
        correlation_id: command.correlation_id.clone(),
        idempotency_key: command.idempotency_key.clone(),
        accepted_at: change.now,
        effect: SignalEffect::BufferedForPendingWaitpoint,
        payload_bytes: command.payload.len() as u64,
        buffered_after: None,
        carried: Default::default(),
    }
}

fn told(signal: &Signal, waitpoint: &Waitpoint) -> String {
    format!("{} at {}, from {}", signal.name, waitpoint.key, signal.source_identity)
}

const fn accepted(signal: &Signal) -> Delivered {
    Delivered::Accepted {
        signal_id: signal.id,
        effect: signal.effect,
    }
}

/// The signal itself, what came with it, and the key its repetition is recognised by.
fn keep(change: &mut Change<'_>, signal: Signal, command: &DeliverSignal) {
    let execution_id = change.after.id;
    change
        .draft
        .blobs
        .push((BlobKey::Signal(execution_id, signal.id), command.payload.clone()));
    if let Some(key) = &command.idempotency_key {
        let record = SignalKeyRecord {
            execution_id,
            key: key.clone(),
            signal_id: signal.id,
            carried: Default::default(),
        };
        let window = change.after.definition.policy.dedup_window();
        change.draft.create_for(Record::SignalKey(record), window);
    }
    change.draft.create(signal);
}
