//! Waitpoints: handing one out before suspending, where it stands, its expiry and its token.
//!
//! Ending a suspension or an execution writes no waitpoint: whether one is open is read off its own record and that of
//! its execution.

use super::change::{Change, history_line};
use super::condition::required_names;
use super::context::Context;
use super::decided::{Decided, Draft};
use super::fence;
use crate::command::waitpoint::{
    CreatePendingWaitpoint, OpenWaitpoint, RequiredNames, WaitpointClosed, WaitpointState,
};
use crate::error::{Code, Rejection};
use crate::id::{ExecutionId, WaitpointId};
use crate::keyring::KeyRing;
use crate::limits::{PENDING_WAITPOINT_TTL_MAX, PENDING_WAITPOINTS_MAX};
use crate::name::Kid;
use crate::record::{
    Execution, Happening, PendingWaitpoint, RequestOutcome, Suspension, Waitpoint, WaitpointRef, WaitpointUse,
};
use crate::time::{Duration, Timestamp};
use crate::token::{WaitpointClaims, WaitpointToken};

/// active → active, with a waitpoint that takes signals before any suspension. A repetition is recognised by its request
/// or by its id.
pub fn create_pending(
    execution: &Execution,
    command: &CreatePendingWaitpoint,
    waitpoint_id: WaitpointId,
    context: &Context,
) -> Result<Decided<PendingWaitpoint>, Rejection> {
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    fence::hold(&mut change, fence)?;
    let before = change.after.requests.find(command.request_id.as_ref());
    let first = before.filter_map(|answered| match answered {
        RequestOutcome::PendingWaitpoint(first) => Some(first.clone()),
        _ => None,
    });
    if let Some(first) = first.last() {
        return Ok(change.finish(first));
    }
    let now = change.now;
    change
        .after
        .pending_waitpoints
        .retain(|pending| !pending.expires_at.has_come(now));
    if let Some(first) = made_before(&change.after, waitpoint_id, command) {
        // It may be closed by the time this is repeated.
        let remembered = RequestOutcome::PendingWaitpoint(first.clone());
        change.after.requests.remember(command.request_id.as_ref(), remembered);
        return Ok(change.finish(first));
    }
    check_room(&change.after, command)?;
    let waitpoint = Waitpoint {
        id: waitpoint_id,
        execution_id: change.after.id,
        key: command.waitpoint_key.clone(),
        created_at: now,
        updated_at: now,
        usage: WaitpointUse::Pending {
            expires_at: now + command.expires_in,
        },
        buffered: 0,
        carried: Default::default(),
    };
    let pending = PendingWaitpoint {
        waitpoint: waitpoint.reference(),
        expires_at: now + command.expires_in,
    };
    change.draft.create(waitpoint);
    change.after.pending_waitpoints.push(pending.clone());
    let remembered = RequestOutcome::PendingWaitpoint(pending.clone());
    change.after.requests.remember(command.request_id.as_ref(), remembered);
    change.note(Happening::WaitpointCreated, Some(command.waitpoint_key.to_string()));
    Ok(change.finish(pending))
}

/// One that is open under this key is answered again: whoever lost the reply, or took over, hands out the same. Who names
/// another id wants another one.
fn made_before(execution: &Execution, id: WaitpointId, command: &CreatePendingWaitpoint) -> Option<PendingWaitpoint> {
    let open = &execution.pending_waitpoints;
    let same = |pending: &&PendingWaitpoint| {
        pending.waitpoint.key == command.waitpoint_key && (pending.waitpoint.id == id || command.waitpoint_id.is_none())
    };
    open.iter().find(same).cloned()
}

fn check_room(execution: &Execution, command: &CreatePendingWaitpoint) -> Result<(), Rejection> {
    let id = execution.id;
    if !(Duration::from_millis(1)..=PENDING_WAITPOINT_TTL_MAX).contains(&command.expires_in) {
        let detail = format!("a pending waitpoint lasts 1 ms to 30 days, not {}", command.expires_in);
        return Err(Code::InvalidInput.because(detail));
    }
    let open = &execution.pending_waitpoints;
    if let Some(same) = open
        .iter()
        .find(|pending| pending.waitpoint.key == command.waitpoint_key)
    {
        let detail = format!("execution {id} has a pending waitpoint {} open", command.waitpoint_key);
        // A worker that took over finds the waitpoint its predecessor handed out.
        return Err(Code::WaitpointAlreadyExists
            .because(detail)
            .with("waitpoint_id", same.waitpoint.id.to_string()));
    }
    if open.len() >= PENDING_WAITPOINTS_MAX {
        let detail =
            format!("execution {id} has {PENDING_WAITPOINTS_MAX} pending waitpoints open; use some of them first");
        return Err(Code::InvalidInput.because(detail));
    }
    Ok(())
}

/// Where a waitpoint stands at `now`.
pub fn waitpoint_state(waitpoint: &Waitpoint, execution: &Execution, now: Timestamp) -> WaitpointState {
    let open = |id| execution.suspension().is_some_and(|suspension| suspension.id == id);
    match waitpoint.usage {
        WaitpointUse::NeverCommitted => WaitpointState::Closed(WaitpointClosed::NeverCommitted),
        WaitpointUse::Consumed => WaitpointState::Closed(WaitpointClosed::Consumed),
        WaitpointUse::Suspension(id) if open(id) => WaitpointState::Active,
        WaitpointUse::Suspension(_) => WaitpointState::Closed(WaitpointClosed::SuspensionEnded),
        WaitpointUse::Pending { expires_at } if expires_at.has_come(now) => {
            WaitpointState::Closed(WaitpointClosed::NeverCommitted)
        }
        WaitpointUse::Pending { .. } if is_listed(execution, waitpoint.id) => WaitpointState::Pending,
        WaitpointUse::Pending { .. } => WaitpointState::Closed(WaitpointClosed::ExecutionEnded),
    }
}

/// An end of the execution empties the list, so a replay does not open its old pending waitpoints again.
fn is_listed(execution: &Execution, id: WaitpointId) -> bool {
    execution
        .pending_waitpoints
        .iter()
        .any(|pending| pending.waitpoint.id == id)
}

/// The refusal of whoever needs a waitpoint to be open.
pub(crate) fn closed(waitpoint: &Waitpoint, reason: WaitpointClosed) -> Rejection {
    let detail = format!("waitpoint {} is closed: {}", waitpoint.id, reason.as_str());
    Code::WaitpointClosed.because(detail).with("reason", reason.as_str())
}

/// pending → closed, `never_committed`, once its time has passed; before that nothing happens. The execution is only
/// read: its own list forgets the waitpoint when it is next written.
pub fn expire(waitpoint: &Waitpoint, execution: &Execution, context: &Context) -> Decided<()> {
    let now = context.now.max(waitpoint.updated_at);
    let due = matches!(waitpoint.usage, WaitpointUse::Pending { expires_at } if expires_at.has_come(now));
    if !due {
        return Decided::unchanged(());
    }
    let mut draft = Draft::default();
    draft.put(Waitpoint {
        usage: WaitpointUse::NeverCommitted,
        updated_at: now,
        ..waitpoint.clone()
    });
    if is_listed(execution, waitpoint.id) {
        let detail = Some(waitpoint.key.to_string());
        draft.history.push(history_line(
            execution,
            now,
            Happening::WaitpointExpired,
            context,
            detail,
        ));
    }
    Decided { outcome: (), draft }
}

/// The waitpoints of an execution that take signals at `now`, those of its suspension first.
pub fn list_open(execution: &Execution, kid: &Kid, now: Timestamp) -> Vec<OpenWaitpoint> {
    let entry = |waitpoint: &WaitpointRef, state, required_names, closes_at| OpenWaitpoint {
        waitpoint_id: waitpoint.id,
        waitpoint_key: waitpoint.key.clone(),
        state,
        required_names,
        created_at: waitpoint.created_at,
        closes_at,
        kid: kid.clone(),
        fingerprint: claims(execution.id, waitpoint).fingerprint(),
    };
    let active = execution.suspension().into_iter().flat_map(|suspension| {
        let closes_at = closes_at(suspension);
        suspension.waitpoints.iter().map(move |waitpoint| {
            let required = required_names(&suspension.condition, &waitpoint.key);
            entry(waitpoint, WaitpointState::Active, required, closes_at)
        })
    });
    let open = execution
        .pending_waitpoints
        .iter()
        .filter(|pending| !pending.expires_at.has_come(now));
    let pending = open.map(|pending| {
        entry(
            &pending.waitpoint,
            WaitpointState::Pending,
            RequiredNames::Nothing,
            Some(pending.expires_at),
        )
    });
    active.chain(pending).collect()
}

/// An escalated suspension has had its timeout and stays open.
fn closes_at(suspension: &Suspension) -> Option<Timestamp> {
    suspension.timeout_at.filter(|_| !suspension.escalated)
}

/// What the token of a waitpoint vouches for.
pub fn claims(execution_id: ExecutionId, waitpoint: &WaitpointRef) -> WaitpointClaims {
    WaitpointClaims {
        execution_id,
        waitpoint_id: waitpoint.id,
        waitpoint_key: waitpoint.key.clone(),
        created_at: waitpoint.created_at,
    }
}

/// The waitpoint a privileged caller named, or that there is none.
pub fn known(waitpoint: Option<&Waitpoint>) -> Result<&Waitpoint, Rejection> {
    waitpoint.ok_or_else(|| Code::WaitpointNotFound.because("the execution has no such waitpoint"))
}

/// Mints the token of an open waitpoint under the current key, for a privileged caller.
pub fn read_token(
    waitpoint: &Waitpoint,
    execution: &Execution,
    ring: &KeyRing,
    now: Timestamp,
) -> Result<WaitpointToken, Rejection> {
    match waitpoint_state(waitpoint, execution, now) {
        WaitpointState::Closed(reason) => Err(closed(waitpoint, reason)),
        WaitpointState::Pending | WaitpointState::Active => Ok(WaitpointToken::mint(
            ring,
            &claims(execution.id, &waitpoint.reference()),
        )),
    }
}
