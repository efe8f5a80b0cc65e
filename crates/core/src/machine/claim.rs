//! Handing out: what `reserve` stamps, how a grant becomes a lease, and how a promise is kept or taken back.

use super::change::Change;
use super::context::Context;
use super::decided::{Decided, Draft, count_member};
use crate::error::{Code, Rejection};
use crate::id::{AttemptId, GrantId, LeaseId};
use crate::limits::UNCONFIRMED_LEASE_TTL_MAX;
use crate::name::{WorkerId, WorkerInstanceId};
use crate::record::{
    Actor, Attempt, Block, Cause, CounterKey, Execution, GateState, Grant, Happening, HistoryLine, Lease, Phase,
    Runnable,
};
use crate::state::public_state;
use crate::time::{Duration, Timestamp};

/// What the worker side of a claim brings: who asks, for how long, and fresh ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimant {
    /// Who will run it.
    pub worker: WorkerId,
    /// In which process slot.
    pub instance: WorkerInstanceId,
    /// Fresh id for a grant.
    pub grant_id: GrantId,
    /// Fresh id for a lease.
    pub lease_id: LeaseId,
    /// Fresh id for an attempt, used if a new one starts.
    pub attempt_id: AttemptId,
    /// How long the lease lasts between renewals.
    pub lease_ttl: Duration,
    /// How long the grant lasts.
    pub grant_ttl: Duration,
}

/// What a reservation turns an eligible execution into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOut {
    /// A lease at once where nothing has to admit it, otherwise a grant.
    Lease,
    /// A grant in any case.
    Grant,
}

/// What became of a reserved execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandedOut {
    /// The worker has it.
    Leased,
    /// Promised; admission and a lease commit come next.
    Granted,
}

/// Whether budgets or a quota have a say before this execution may be leased.
pub fn needs_admission(execution: &Execution) -> bool {
    let policy = &execution.definition.policy;
    !policy.budget_ids.is_empty() || policy.quota_policy_id.is_some()
}

/// Whether an execution behind `gate` may be leased. A solo execution has no gate.
pub const fn gate_passes(gate: Option<GateState>) -> bool {
    match gate {
        None => true,
        Some(state) => matches!(state, GateState::Open | GateState::Sealed),
    }
}

/// The reference for every backend's `reserve`: an eligible execution, read together with the gate of its flow, is leased
/// to the claimant if nothing else has a say, and otherwise promised to it.
pub fn hand_out(execution: &Execution, claimant: &Claimant, mode: HandOut, surroundings: Surroundings) -> Reserved {
    let now = surroundings.now.max(execution.updated_at);
    let free = !needs_admission(execution) && gate_passes(surroundings.gate);
    let mut after = execution.clone();
    after.updated_at = now;
    if mode == HandOut::Grant || !free {
        promise(&mut after, claimant, free, now);
        return Reserved {
            execution: after,
            handed_out: HandedOut::Granted,
            history: None,
            increments: Vec::new(),
        };
    }
    acquire(&mut after, claimant, now);
    let mut counted = Draft::default();
    if let Some(flow) = after.definition.flow {
        count_member(
            &mut counted,
            flow,
            Some(public_state(execution)),
            Some(public_state(&after)),
        );
    }
    let history = Some(claimed_line(&after, claimant, now));
    Reserved {
        execution: after,
        handed_out: HandedOut::Leased,
        history,
        increments: counted.increments,
    }
}

/// What a reservation knows besides the execution and the claimant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// The store's time.
    pub now: Timestamp,
    /// The gate of the execution's flow; `None` for a solo execution.
    pub gate: Option<GateState>,
}

/// An execution as `reserve` leaves it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reserved {
    /// The stamped record.
    pub execution: Execution,
    /// Leased or granted.
    pub handed_out: HandedOut,
    /// The line for its history. A bare reservation leaves none: it promises nothing yet.
    pub history: Option<HistoryLine>,
    /// What the counters of its flow move by.
    pub increments: Vec<(CounterKey, i64)>,
}

fn promise(execution: &mut Execution, claimant: &Claimant, admitted: bool, now: Timestamp) {
    if let Phase::Runnable(runnable) = &mut execution.phase {
        runnable.grant = Some(Grant {
            id: claimant.grant_id,
            worker: claimant.worker.clone(),
            instance: claimant.instance.clone(),
            expires_at: now + claimant.grant_ttl,
            admitted,
            reclaim: false,
        });
    }
}

/// Takes the lease: what `next_claim` announced comes true. Until its first renewal it is short, so that a reply that got
/// lost costs little.
fn acquire(execution: &mut Execution, claimant: &Claimant, now: Timestamp) {
    let Phase::Runnable(Runnable { next_claim, grant, .. }) = &execution.phase else {
        return;
    };
    let next_claim = next_claim.clone();
    let grant = grant.as_ref().map(|grant| grant.id);
    execution.lease_epoch += 1;
    let epoch = execution.lease_epoch;
    match execution.attempt.as_mut().filter(|_| next_claim.continues) {
        Some(attempt) => {
            attempt.worker = claimant.worker.clone();
            attempt.instance = claimant.instance.clone();
            attempt.lease_epoch = epoch;
        }
        None => {
            execution.attempt = Some(Attempt {
                index: next_claim.attempt_index,
                id: claimant.attempt_id,
                kind: next_claim.kind,
                worker: claimant.worker.clone(),
                instance: claimant.instance.clone(),
                lease_epoch: epoch,
                started_at: now,
                leased: Duration::ZERO,
                tier: next_claim.tier,
                usage: Default::default(),
                breached: Default::default(),
                end: None,
                carried: Default::default(),
            });
        }
    }
    execution.phase = Phase::Active(Lease {
        id: claimant.lease_id,
        epoch,
        worker: claimant.worker.clone(),
        instance: claimant.instance.clone(),
        acquired_at: now,
        expires_at: now + claimant.lease_ttl.min(UNCONFIRMED_LEASE_TTL_MAX),
        ttl: claimant.lease_ttl,
        timeout_at: next_claim.timeout.map(|timeout| now + timeout),
        confirmed: false,
        reclaim_at: None,
        grant,
        stops: Vec::new(),
        doing: Vec::new(),
    });
}

fn claimed_line(execution: &Execution, claimant: &Claimant, now: Timestamp) -> HistoryLine {
    let context = Context {
        actor: Actor::Worker(claimant.instance.clone()),
        ..Context::engine(now)
    };
    super::change::history_line(execution, now, Happening::Claimed, &context, None)
}

/// What became of a lease commit or an admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admitted {
    /// As asked.
    Yes,
    /// The flow is cancelled; so is its member now.
    FlowCancelled,
}

/// Budgets and quota let the reservation pass: it becomes a grant that can be redeemed. Safe to repeat.
pub fn admit(execution: &Execution, grant_id: GrantId, context: &Context) -> Result<Decided<Admitted>, Rejection> {
    let mut change = Change::begin(execution, context)?;
    check_grant(execution, &change, grant_id)?;
    if !change.pass_gate() {
        change.cancel_with_flow();
        return Ok(change.finish(Admitted::FlowCancelled));
    }
    if change.after.grant().is_some_and(|grant| grant.admitted) {
        return Ok(change.finish(Admitted::Yes));
    }
    let expires_at = execution.grant().map(|grant| grant.expires_at);
    if let Some(grant) = change.runnable_mut().and_then(|runnable| runnable.grant.as_mut()) {
        grant.admitted = true;
    }
    change.draft.not_after = expires_at;
    change.note(Happening::Granted, None);
    Ok(change.finish(Admitted::Yes))
}

/// Budgets and quota let the reservation pass: it becomes a lease. Must be committed before the grant expires. Safe to
/// repeat: the claimant finds the lease that it took, whoever else has written the execution since.
pub fn lease(execution: &Execution, claimant: &Claimant, context: &Context) -> Result<Decided<Admitted>, Rejection> {
    let change = Change::begin(execution, context)?;
    if redeemed_before(&change.after, claimant) {
        return Ok(change.finish(Admitted::Yes));
    }
    check_grant(execution, &change, claimant.grant_id)?;
    Ok(take(change, claimant, false))
}

fn take(mut change: Change<'_>, claimant: &Claimant, confirmed: bool) -> Decided<Admitted> {
    if !change.pass_gate() {
        change.cancel_with_flow();
        return change.finish(Admitted::FlowCancelled);
    }
    change.draft.not_after = super::time::lease_bound(&change.after);
    let now = change.now;
    acquire(&mut change.after, claimant, now);
    if let Some(lease) = change.lease_mut().filter(|_| confirmed) {
        lease.confirmed = true;
        lease.expires_at = now + lease.ttl;
    }
    let line = claimed_line(&change.after, claimant, now);
    change.draft.history.push(line);
    change.finish(Admitted::Yes)
}

/// Refuses when the reservation lapsed, was dropped or was consumed in the meantime. A lapsed one is told from one that was
/// never there by the record as it is stored.
fn check_grant(stored: &Execution, change: &Change<'_>, grant_id: GrantId) -> Result<(), Rejection> {
    let is_it = |grant: &&Grant| grant.id == grant_id;
    if change.after.grant().filter(is_it).is_some() {
        return Ok(());
    }
    let id = stored.id;
    if stored
        .grant()
        .filter(is_it)
        .is_some_and(|grant| grant.expires_at.has_come(change.now))
    {
        return Err(Code::ClaimGrantExpired.because(format!("execution {id}: the grant has expired")));
    }
    Err(Code::InvalidClaimGrant.because(format!("execution {id}: no such grant is open")))
}

/// What redeeming a grant came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redeemed {
    /// The lease is the caller's.
    Now,
    /// The same instance redeemed it before and still has the lease: the same task again.
    Already,
    /// The flow is cancelled; so is its member now.
    FlowCancelled,
}

/// Redeems a grant whose signature was checked. The caller knows that it has the lease, so it runs its whole time.
pub fn claim_from_grant(
    execution: &Execution,
    claimant: &Claimant,
    context: &Context,
) -> Result<Decided<Redeemed>, Rejection> {
    let change = Change::begin(execution, context)?;
    if redeemed_before(&change.after, claimant) {
        return Ok(change.finish(Redeemed::Already));
    }
    check_holder(execution, claimant)?;
    check_grant(execution, &change, claimant.grant_id)?;
    let decided = take(change, claimant, true);
    Ok(decided.map(|admitted| match admitted {
        Admitted::FlowCancelled => Redeemed::FlowCancelled,
        Admitted::Yes => Redeemed::Now,
    }))
}

/// Refuses whoever is not the worker instance the grant was issued to, and a reservation that admission has not passed.
fn check_holder(execution: &Execution, claimant: &Claimant) -> Result<(), Rejection> {
    let is_holders = |grant: &Grant| {
        grant.id == claimant.grant_id
            && grant.admitted
            && grant.worker == claimant.worker
            && grant.instance == claimant.instance
    };
    if execution.grant().is_some_and(is_holders) {
        return Ok(());
    }
    let id = execution.id;
    Err(Code::InvalidClaimGrant.because(format!("execution {id}: no such grant is open for this worker")))
}

fn redeemed_before(execution: &Execution, claimant: &Claimant) -> bool {
    let of_grant = |lease: &Lease| lease.grant == Some(claimant.grant_id) && lease.instance == claimant.instance;
    execution
        .lease()
        .is_some_and(|lease| of_grant(lease) && !lease.is_expired())
}

/// Admission refused the reservation: the execution waits in the index of its cause until there is room again.
pub fn block(
    execution: &Execution,
    grant_id: GrantId,
    refusal: &Refusal,
    context: &Context,
) -> Result<Decided<Admitted>, Rejection> {
    let mut change = Change::begin(execution, context)?;
    check_grant(execution, &change, grant_id)?;
    if !change.pass_gate() {
        change.cancel_with_flow();
        return Ok(change.finish(Admitted::FlowCancelled));
    }
    change.drop_grant(Happening::GrantDropped);
    set_block(&mut change, refusal);
    Ok(change.finish(Admitted::Yes))
}

/// Moves an eligible execution of a closed budget's queue to the index of its cause, without reserving it first.
pub fn block_queued(execution: &Execution, refusal: &Refusal, context: &Context) -> Result<Decided<bool>, Rejection> {
    let mut change = Change::begin(execution, context)?;
    let queued = matches!(
        super::placement::placement(&change.after),
        super::placement::Placement::Eligible { .. }
    );
    if queued {
        set_block(&mut change, refusal);
    }
    Ok(change.finish(queued))
}

/// Why admission refused an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What refused it.
    pub cause: Cause,
    /// Names the limit and its current value, for a person.
    pub detail: String,
    /// The cause's generation as it was read.
    pub generation: u64,
}

fn set_block(change: &mut Change<'_>, refusal: &Refusal) {
    let since = change.now;
    if let Some(runnable) = change.runnable_mut() {
        runnable.block = Some(Block {
            cause: refusal.cause,
            detail: refusal.detail.clone(),
            generation: refusal.generation,
            since,
        });
    }
    change.note(Happening::Blocked, Some(refusal.detail.clone()));
}

/// There is room again under `cause`: the execution goes back to its queue. `false` when it was not blocked by it.
pub fn unblock(execution: &Execution, cause: Cause, context: &Context) -> Result<Decided<bool>, Rejection> {
    let mut change = Change::begin(execution, context)?;
    let is_cause = |block: &mut Block| block.cause == cause;
    let taken = change
        .runnable_mut()
        .and_then(|runnable| runnable.block.take_if(is_cause));
    if taken.is_none() {
        return Ok(change.finish(false));
    }
    change.note(Happening::Unblocked, None);
    Ok(change.finish(true))
}
