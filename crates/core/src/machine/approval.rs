//! What waits for a person, and the person's yes or no.

use super::context::Context;
use super::decided::Decided;
use super::signal::{self, Sender, Target};
use crate::command::signal::{Approval, Decide, DeliverSignal, Delivered, Verdict};
use crate::error::Rejection;
use crate::id::{ExecutionId, WaitpointId};
use crate::limits::{LABEL_BYTES_MAX, SHOWN_BYTES_MAX};
use crate::name::{Identity, SignalName};
use crate::payload::Payload;
use crate::record::{Execution, ReasonCode, ResumeCondition, Signal, SignalEffect, Suspension};
use crate::time::Timestamp;
use crate::view::StepTotals;

/// Delivers a person's decision as a signal named `approved` or `rejected`, with who decided.
pub fn decide(
    target: Target<'_>,
    verdict: Verdict,
    command: &Decide,
    context: &Context,
) -> Result<Decided<Delivered>, Rejection> {
    let signal = DeliverSignal {
        waitpoint_id: command.waitpoint_id,
        signal_id: None,
        signal_name: verdict.signal_name(),
        category: "approval".to_owned(),
        source_type: "operator".to_owned(),
        source_identity: context.actor.identity().unwrap_or_else(Identity::anonymous),
        payload: command.payload.clone(),
        idempotency_key: command.idempotency_key.clone(),
        correlation_id: None,
    };
    signal::deliver_from(Sender::Person, target, &signal, context)
}

/// The answer to who decides at a waitpoint that was decided: the signal that ended the wait, or else the last one that said yes or
/// no there and counted. `None`: nobody decided.
pub fn decided_before<'s>(signals: impl IntoIterator<Item = &'s Signal>, waitpoint: WaitpointId) -> Option<Delivered> {
    let decisions = signals
        .into_iter()
        .filter(|signal| signal.waitpoint_id == Some(waitpoint) && verdict(signal).is_some())
        .filter(|signal| signal.effect != SignalEffect::IgnoredNotInCondition);
    let last = decisions.max_by_key(|signal| {
        let ended_the_wait = signal.effect == SignalEffect::ResumeConditionSatisfied;
        (ended_the_wait, signal.accepted_at, signal.id)
    });
    last.map(same_decision)
}

/// The answer to who sends a signal again, with what was decided if it was a decision.
pub fn same_decision(first: &Signal) -> Delivered {
    let Some(verdict) = verdict(first) else {
        return Delivered::before(first.id);
    };
    Delivered::Duplicate {
        existing_signal_id: first.id,
        by: Some(first.source_identity.clone()),
        verified: Some(first.source_verified),
        verdict: Some(verdict),
        at: Some(first.accepted_at),
    }
}

/// What a signal says as a decision, whichever way it came: the name is what its handler goes by.
fn verdict(signal: &Signal) -> Option<Verdict> {
    [Verdict::Approve, Verdict::Reject]
        .into_iter()
        .find(|verdict| signal.name == verdict.signal_name())
}

impl Verdict {
    fn signal_name(self) -> SignalName {
        match self {
            Verdict::Approve => SignalName::approved(),
            Verdict::Reject => SignalName::rejected(),
        }
    }
}

/// The entry of an execution in the list of what waits for a person; `None` when it waits for nobody.
pub fn approval(execution: &Execution) -> Option<Approval> {
    let suspension = execution
        .suspension()
        .filter(|suspension| waits_for_a_person(suspension))?;
    Some(Approval {
        execution_id: execution.id,
        namespace: execution.definition.namespace.clone(),
        lane_id: execution.definition.lane.clone(),
        execution_kind: execution.definition.kind.clone(),
        creator: execution.definition.creator.clone(),
        reason_code: suspension.reason_code,
        escalated: suspension.escalated,
        since: suspension.since,
        timeout_at: suspension.timeout_at,
        waitpoints: suspension.waitpoints.clone(),
        usage: execution.usage.clone(),
        steps: StepTotals::of(&execution.steps),
        expected_attempt: execution.attempt.as_ref().map_or(0, |attempt| attempt.index),
        show: None,
        show_key: None,
        show_bytes: None,
        title: None,
    })
}

fn waits_for_a_person(suspension: &Suspension) -> bool {
    let asked_for = matches!(
        suspension.reason_code,
        ReasonCode::WaitingForApproval | ReasonCode::OperatorReview | ReasonCode::ManualPause
    );
    asked_for || suspension.escalated || suspension.condition == ResumeCondition::OperatorOnly
}

/// The beginning of a text, cut where a character ends.
fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

impl Approval {
    /// Adds what its worker shows to who decides, out of the summary of its attempt: under the first of its waitpoints that has
    /// something. A summary that is none shows nothing.
    pub fn add_shown(&mut self, summary: &[u8]) {
        let Ok(summary) = serde_json::from_slice::<serde_json::Value>(summary) else {
            return;
        };
        let of_waitpoint = |key: &str| summary.get("approvals")?.get(key);
        let keys = self.waitpoints.iter().map(|waitpoint| &waitpoint.key);
        let Some((key, shown)) = keys.filter_map(|key| Some((key, of_waitpoint(key.as_str())?))).next() else {
            return;
        };
        let show = Payload::json(shown);
        let title = shown.get("title").and_then(serde_json::Value::as_str);
        self.title = title.map(|title| cut(title, LABEL_BYTES_MAX).to_owned());
        self.show_key = Some(key.clone());
        self.show_bytes = Some(show.len() as u64);
        self.show = Some(show).filter(|show| show.len() <= SHOWN_BYTES_MAX);
    }

    /// The order of the list: what was escalated first, then what has waited longest. Smaller comes first.
    pub const fn order(&self) -> (bool, Timestamp, ExecutionId) {
        (!self.escalated, self.since, self.execution_id)
    }
}
