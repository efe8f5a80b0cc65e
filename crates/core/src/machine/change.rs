//! One execution on its way from one record to the next.
//!
//! Every rule works on a [`Change`]: it starts from the record as time has made it (what was due happens before the
//! command that finds it), uses the few moves below, and ends in a [`Decided`]. What must never be forgotten when a lease
//! ends, an execution goes back to its queue or ends for good is written here once.

use super::context::Context;
use super::decided::{ClosedReason, Decided, Draft, Nudge, StreamEnd, Write, count_member};
use super::time;
use crate::error::{Code, Rejection};
use crate::id::EffectId;
use crate::payload::Payload;
use crate::record::{
    AttemptEnd, AttemptEndState, AttemptKind, CancelSource, CounterKey, Delay, Effect, EffectKind, EndedLease,
    Execution, Failure, FlowCounter, GateState, Happening, HistoryLine, HistorySubject, Lease, LeaseEnd,
    LeaseOperation, NextClaim, Outcome, OutcomeKind, Phase, Record, RecordKey, Runnable, Success,
};
use crate::state::public_state;
use crate::time::Timestamp;

/// An execution being changed.
pub(crate) struct Change<'a> {
    before: &'a Execution,
    /// The execution as it will be.
    pub(crate) after: Execution,
    /// What goes into the same transaction.
    pub(crate) draft: Draft,
    /// The circumstances of the decision.
    pub(crate) context: &'a Context,
    /// The time of the decision: the store's, but never before the record was last written.
    pub(crate) now: Timestamp,
}

/// How an execution ends.
pub(crate) struct Ending {
    pub(crate) kind: OutcomeKind,
    pub(crate) what: Happening,
    pub(crate) closed: ClosedReason,
    pub(crate) failure: Option<Failure>,
    pub(crate) reason: Option<String>,
    pub(crate) cancel_source: Option<CancelSource>,
    pub(crate) result_bytes: Option<u64>,
}

impl<'a> Change<'a> {
    /// Starts from `execution` with everything applied that time has brought; an execution whose retention is over is not
    /// there any more.
    pub(crate) fn begin(execution: &'a Execution, context: &'a Context) -> Result<Self, Rejection> {
        let change = Self::settled(execution, context);
        if change.after.is_deleting() {
            return Err(not_found(&change.after));
        }
        Ok(change)
    }

    /// Starts from `execution` with everything applied that time has brought.
    pub(crate) fn settled(execution: &'a Execution, context: &'a Context) -> Self {
        let mut change = Self {
            before: execution,
            after: execution.clone(),
            draft: Draft::default(),
            context,
            now: context.now.max(execution.updated_at),
        };
        time::settle(&mut change);
        change
    }

    /// Ends the change: the new record, its flow's counters and everything collected on the way.
    pub(crate) fn finish<O>(mut self, outcome: O) -> Decided<O> {
        if self.after != *self.before {
            self.after.updated_at = self.now;
            self.count_in_flow();
            self.draft.writes.insert(0, Write::Put(Record::from(self.after)));
        }
        Decided {
            outcome,
            draft: self.draft,
        }
    }

    fn count_in_flow(&mut self) {
        let Some(flow) = self.after.definition.flow else { return };
        let before = public_state(self.before);
        let after = public_state(&self.after);
        if before == after {
            return;
        }
        count_member(&mut self.draft, flow, Some(before), Some(after));
        if before.is_terminal() != after.is_terminal() {
            // Ended: the flow looks up when nobody is left. Reopened: the flow must learn that somebody is.
            let open = CounterKey::Flow(flow, FlowCounter::Open);
            let nudge = if after.is_terminal() {
                Nudge::at_zero(RecordKey::Flow(flow), open)
            } else {
                Nudge::always(RecordKey::Flow(flow))
            };
            self.draft.nudge(nudge);
        }
    }

    /// The execution as it was read.
    pub(crate) const fn before(&self) -> &Execution {
        self.before
    }

    /// Writes a line of history.
    pub(crate) fn note(&mut self, what: Happening, detail: Option<String>) {
        let line = history_line(&self.after, self.now, what, self.context, detail);
        self.draft.history.push(line);
    }

    /// The facts of the runnable phase, to change them.
    pub(crate) fn runnable_mut(&mut self) -> Option<&mut Runnable> {
        match &mut self.after.phase {
            Phase::Runnable(runnable) => Some(runnable),
            _ => None,
        }
    }

    /// The live lease, to change it.
    pub(crate) fn lease_mut(&mut self) -> Option<&mut Lease> {
        match &mut self.after.phase {
            Phase::Active(lease) => Some(lease),
            _ => None,
        }
    }

    /// Records how the live lease ended and gives its quota slot back. The caller moves to another phase next. A lease ends
    /// once: a second end says nothing new.
    pub(crate) fn end_lease(&mut self, end: LeaseEnd) {
        let (Phase::Active(lease), Some(attempt)) = (&self.after.phase, &mut self.after.attempt) else {
            return;
        };
        if self
            .after
            .ended_lease
            .as_ref()
            .is_some_and(|ended| ended.epoch == lease.epoch)
        {
            return;
        }
        if lease.confirmed {
            // What lies after the end of its time was nobody's, however late that end was noticed.
            let ran_out_at = lease.timeout_at.unwrap_or(Timestamp::MAX).min(lease.expires_at);
            attempt.leased += self.now.min(ran_out_at).since(lease.acquired_at);
        }
        self.after.ended_lease = Some(EndedLease::of(lease, attempt.id, end));
        if let Some(grant_id) = lease.grant {
            self.release_slot(grant_id);
        }
    }

    /// Gives the quota slot of a grant back, if the execution counts against a quota.
    fn release_slot(&mut self, grant_id: crate::id::GrantId) {
        if let Some(quota_policy_id) = self.after.definition.policy.quota_policy_id {
            self.after.outbox.push(Effect {
                // One slot is released once: its grant names the effect.
                id: EffectId::from_uuid(grant_id.uuid()),
                kind: EffectKind::ReleaseSlot {
                    quota_policy_id,
                    grant_id,
                },
            });
        }
    }

    /// Takes a grant back, with the quota slot that may have been taken for it.
    pub(crate) fn drop_grant(&mut self, what: Happening) {
        let Some(grant) = self.runnable_mut().and_then(|runnable| runnable.grant.take()) else {
            return;
        };
        self.release_slot(grant.id);
        self.note(what, Some(format!("grant of {}", grant.worker)));
    }

    /// Ends the attempt on the record and its output stream.
    pub(crate) fn end_attempt(&mut self, state: AttemptEndState, failure: Option<Failure>, closed: ClosedReason) {
        let at = self.now;
        let Some(attempt) = self.after.attempt.as_mut().filter(|attempt| attempt.end.is_none()) else {
            return;
        };
        attempt.end = Some(AttemptEnd {
            at,
            state,
            closed,
            failure,
        });
        self.draft.stream_ends.push(StreamEnd {
            execution_id: self.after.id,
            attempt_index: attempt.index,
            at,
            reason: closed,
        });
    }

    /// Keeps the ended attempt as a record of its own, because another one will follow. Time may have done so a moment ago,
    /// and then ended the execution before the other one began.
    pub(crate) fn archive_attempt(&mut self) {
        let Some(attempt) = &self.after.attempt else { return };
        let record = Record::Attempt(self.after.id, Box::new(attempt.clone()));
        let key = record.key();
        let is_it = |write: &Write| matches!(write, Write::Create { record, .. } if record.key() == key);
        if !self.draft.writes.iter().any(is_it) {
            self.draft.create(record);
        }
    }

    /// The next claim of the execution when a new attempt of `kind` is to start on `tier`.
    pub(crate) fn new_attempt(&self, kind: AttemptKind, tier: u32) -> NextClaim {
        NextClaim {
            attempt_index: self.after.attempt.as_ref().map_or(0, |attempt| attempt.index + 1),
            kind,
            continues: false,
            tier,
            timeout: self.after.definition.policy.attempt_timeout(tier),
            resumed: false,
            revoked: false,
        }
    }

    /// The next claim when the attempt on the record goes on; it keeps the leased time it has used.
    pub(crate) fn same_attempt(&self) -> NextClaim {
        match &self.after.attempt {
            None => self.new_attempt(AttemptKind::Initial, 0),
            Some(attempt) => NextClaim {
                attempt_index: attempt.index,
                kind: attempt.kind,
                continues: true,
                tier: attempt.tier,
                timeout: self
                    .after
                    .definition
                    .policy
                    .attempt_timeout(attempt.tier)
                    .map(|timeout| timeout.saturating_sub(attempt.leased)),
                resumed: false,
                revoked: false,
            },
        }
    }

    /// The holder leaves its lease without ending the execution. Behind a cancelled gate the execution is cancelled
    /// instead, and the answer is `false`: then there is nothing left to do.
    pub(crate) fn leave_lease(&mut self, operation: LeaseOperation, end: LeaseEnd) -> bool {
        let passed = self.pass_gate();
        if passed {
            self.end_lease(end);
        } else {
            self.end_lease(LeaseEnd::FlowCancelled { instead_of: operation });
            self.cancel_with_flow();
        }
        passed
    }

    /// The lease is taken from its holder without ending the execution. Behind a cancelled gate the execution is cancelled,
    /// and the answer is `false`; the lease ended as it did all the same: its holder had asked for nothing.
    pub(crate) fn lose_lease(&mut self, end: LeaseEnd) -> bool {
        self.end_lease(end);
        let passed = self.pass_gate();
        if !passed {
            self.cancel_with_flow();
        }
        passed
    }

    /// Goes back to its queue, at its old place, not before `delay`.
    pub(crate) fn requeue(&mut self, next_claim: NextClaim, delay: Option<Delay>) {
        self.after.phase = Phase::Runnable(Runnable {
            next_claim,
            delay: delay.filter(|delay| !delay.until.has_come(self.now)),
            block: None,
            grant: None,
        });
    }

    /// Guards on the gate of the execution's flow and says whether it lets a member that leaves its lease go on.
    pub(crate) fn pass_gate(&mut self) -> bool {
        let Some(flow) = self.after.definition.flow else {
            return true;
        };
        self.draft.guard(RecordKey::Gate(flow));
        self.context.gate != Some(GateState::Cancelled)
    }

    /// Cancels a member whose flow is cancelled.
    pub(crate) fn cancel_with_flow(&mut self) {
        self.terminate(Ending::cancelled(
            "its flow was cancelled".to_owned(),
            CancelSource::FlowCascade,
        ));
    }

    /// Ends the execution for good, from whatever phase, and with it a lease that nobody ended before.
    pub(crate) fn terminate(&mut self, ending: Ending) {
        self.end_lease(LeaseEnd::ExecutionEnded);
        self.drop_grant(Happening::GrantDropped);
        self.end_attempt(ending.attempt_end(), ending.failure.clone(), ending.closed);
        let detail = ending
            .failure
            .as_ref()
            .map(|failure| failure.reason.clone())
            .or(ending.reason.clone());
        let delete_at = match self.after.definition.flow {
            Some(_) => None,
            None => self.after.definition.policy.retention().map(|keep| self.now + keep),
        };
        if ending.kind == OutcomeKind::Success {
            self.after.success = Some(Success {
                result_bytes: ending.result_bytes,
                superseded: false,
            });
        } else if let Some(success) = &mut self.after.success {
            success.superseded = true;
        }
        self.after.phase = Phase::Terminal(Outcome {
            kind: ending.kind,
            at: self.now,
            failure: ending.failure,
            reason: ending.reason,
            cancel_source: ending.cancel_source,
            delete_at,
            deleting: false,
        });
        self.after.hold = None;
        self.after.unopened = false;
        self.after.pending_waitpoints.clear();
        self.after.resumed = None;
        self.after.follow_ups.reopen_edges = false;
        self.after.follow_ups.resolve_edges = self.after.definition.flow.is_some();
        // What it spawned and has not ended is of use to nobody but after a success.
        self.after.follow_ups.cancel_siblings |= self.after.steps.spawned && ending.kind != OutcomeKind::Success;
        if let Some(dependencies) = &mut self.after.dependencies {
            dependencies.waiting = false;
        }
        self.note(ending.what, detail);
    }

    /// The moment up to which a decision made under the live lease may be committed without reading again.
    pub(crate) fn bound_by_lease(&mut self) {
        self.draft.not_after = time::lease_bound(self.before);
    }
}

impl Ending {
    pub(crate) fn success(result: Option<&Payload>) -> Self {
        Self {
            result_bytes: result.map(|result| result.len() as u64),
            ..Self::of(OutcomeKind::Success, Happening::Completed, ClosedReason::Success)
        }
    }

    pub(crate) fn failed(failure: Failure, closed: ClosedReason) -> Self {
        Self {
            failure: Some(failure),
            ..Self::of(OutcomeKind::Failed, Happening::Failed, closed)
        }
    }

    pub(crate) fn cancelled(reason: String, source: CancelSource) -> Self {
        Self {
            reason: Some(reason),
            cancel_source: Some(source),
            ..Self::of(OutcomeKind::Cancelled, Happening::Cancelled, ClosedReason::Cancelled)
        }
    }

    pub(crate) fn expired(reason: &str, closed: ClosedReason) -> Self {
        Self {
            reason: Some(reason.to_owned()),
            ..Self::of(OutcomeKind::Expired, Happening::Expired, closed)
        }
    }

    pub(crate) fn skipped(reason: &str) -> Self {
        Self {
            reason: Some(reason.to_owned()),
            ..Self::of(
                OutcomeKind::Skipped,
                Happening::Skipped,
                ClosedReason::DependencyImpossible,
            )
        }
    }

    const fn of(kind: OutcomeKind, what: Happening, closed: ClosedReason) -> Self {
        Self {
            kind,
            what,
            closed,
            failure: None,
            reason: None,
            cancel_source: None,
            result_bytes: None,
        }
    }

    const fn attempt_end(&self) -> AttemptEndState {
        match self.kind {
            OutcomeKind::Success => AttemptEndState::EndedSuccess,
            OutcomeKind::Cancelled => AttemptEndState::EndedCancelled,
            OutcomeKind::Failed | OutcomeKind::Expired | OutcomeKind::Skipped => AttemptEndState::EndedFailure,
        }
    }
}

/// A line of an execution's history.
pub(crate) fn history_line(
    execution: &Execution,
    at: Timestamp,
    what: Happening,
    context: &Context,
    detail: Option<String>,
) -> HistoryLine {
    let definition = &execution.definition;
    HistoryLine {
        subject: HistorySubject::Execution(execution.id),
        namespace: definition.namespace.clone(),
        lane: Some(definition.lane.clone()),
        flow_id: definition.flow,
        kind: definition.kind.as_str().to_owned(),
        at,
        what,
        actor: context.actor.clone(),
        attempt_index: execution.attempt.as_ref().map(|attempt| attempt.index),
        lease_epoch: (execution.lease_epoch > 0).then_some(execution.lease_epoch),
        detail,
    }
}

/// The answer for an execution that is not there, or not there any more.
pub(crate) fn not_found(execution: &Execution) -> Rejection {
    Code::ExecutionNotFound.because(format!("execution {} does not exist", execution.id))
}
