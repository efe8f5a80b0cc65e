//! What waits for a person, and the person's yes or no.

use super::context::Context;
use super::decided::Decided;
use super::signal::{self, Sender, Target};
use crate::command::signal::{Approval, Decide, DeliverSignal, Delivered};
use crate::error::Rejection;
use crate::id::ExecutionId;
use crate::name::{Identity, SignalName};
use crate::record::{Execution, ReasonCode, ResumeCondition, Suspension};
use crate::time::Timestamp;

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A signal named `approved`.
    Approve,
    /// A signal named `rejected`.
    Reject,
}

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
        signal_name: match verdict {
            Verdict::Approve => SignalName::approved(),
            Verdict::Reject => SignalName::rejected(),
        },
        category: "approval".to_owned(),
        source_type: "operator".to_owned(),
        source_identity: context.actor.identity().unwrap_or_else(Identity::anonymous),
        payload: command.payload.clone(),
        idempotency_key: command.idempotency_key.clone(),
        correlation_id: None,
    };
    signal::deliver_from(Sender::Person, target, &signal, context)
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
        reason_code: suspension.reason_code,
        escalated: suspension.escalated,
        since: suspension.since,
        timeout_at: suspension.timeout_at,
        waitpoints: suspension.waitpoints.clone(),
    })
}

fn waits_for_a_person(suspension: &Suspension) -> bool {
    let asked_for = matches!(
        suspension.reason_code,
        ReasonCode::WaitingForApproval | ReasonCode::OperatorReview | ReasonCode::ManualPause
    );
    asked_for || suspension.escalated || suspension.condition == ResumeCondition::OperatorOnly
}

impl Approval {
    /// The order of the list: what was escalated first, then what has waited longest. Smaller comes first.
    pub const fn order(&self) -> (bool, Timestamp, ExecutionId) {
        (!self.escalated, self.since, self.execution_id)
    }
}
