//! The seven dimensions of an execution's state, derived from its facts by one function.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::record::{AttemptKind, Cause};
use crate::record::{DelayReason, Execution, OutcomeKind, Phase, ReasonCode, Runnable};
use crate::time::Timestamp;

/// Declares an enum whose variants have one stable name each.
macro_rules! dimension {
    ($(#[$doc:meta])* $name:ident { $($variant:ident => $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`")] #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every value, in the order of the interface.
            pub const ALL: &[$name] = &[$($name::$variant,)+];

            /// The stable name.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

dimension!(
    /// Where in its life an execution is.
    LifecyclePhase { Runnable => "runnable", Active => "active", Suspended => "suspended", Terminal => "terminal" }
);
dimension!(
    /// Who has it.
    OwnershipState {
        Unowned => "unowned",
        Leased => "leased",
        LeaseExpiredReclaimable => "lease_expired_reclaimable",
        LeaseRevoked => "lease_revoked",
    }
);
dimension!(
    /// Whether it may be handed out.
    EligibilityState {
        EligibleNow => "eligible_now",
        NotEligibleUntilTime => "not_eligible_until_time",
        BlockedByDependencies => "blocked_by_dependencies",
        BlockedByBudget => "blocked_by_budget",
        BlockedByQuota => "blocked_by_quota",
        BlockedByRoute => "blocked_by_route",
        BlockedByLaneState => "blocked_by_lane_state",
        BlockedByOperator => "blocked_by_operator",
        NotApplicable => "not_applicable",
    }
);
dimension!(
    /// What it waits for.
    BlockingReason {
        None => "none",
        WaitingForWorker => "waiting_for_worker",
        WaitingForRetryBackoff => "waiting_for_retry_backoff",
        WaitingForResumeDelay => "waiting_for_resume_delay",
        WaitingForDelay => "waiting_for_delay",
        WaitingForSignal => "waiting_for_signal",
        WaitingForApproval => "waiting_for_approval",
        WaitingForCallback => "waiting_for_callback",
        WaitingForToolResult => "waiting_for_tool_result",
        WaitingForChildren => "waiting_for_children",
        WaitingForBudget => "waiting_for_budget",
        WaitingForQuota => "waiting_for_quota",
        WaitingForCapableWorker => "waiting_for_capable_worker",
        PausedByOperator => "paused_by_operator",
        PausedByPolicy => "paused_by_policy",
        PausedByFlowCancel => "paused_by_flow_cancel",
    }
);
dimension!(
    /// How it ended.
    TerminalOutcome {
        None => "none",
        Success => "success",
        Failed => "failed",
        Cancelled => "cancelled",
        Expired => "expired",
        Skipped => "skipped",
    }
);
dimension!(
    /// Where its attempt stands.
    AttemptState {
        None => "none",
        PendingFirstAttempt => "pending_first_attempt",
        RunningAttempt => "running_attempt",
        AttemptInterrupted => "attempt_interrupted",
        PendingRetryAttempt => "pending_retry_attempt",
        PendingReclaimAttempt => "pending_reclaim_attempt",
        PendingReplayAttempt => "pending_replay_attempt",
        AttemptTerminal => "attempt_terminal",
    }
);
dimension!(
    /// One word for a person.
    PublicState {
        Waiting => "waiting",
        Resumable => "resumable",
        Delayed => "delayed",
        WaitingChildren => "waiting_children",
        RateLimited => "rate_limited",
        Active => "active",
        Suspended => "suspended",
        Completed => "completed",
        Failed => "failed",
        Cancelled => "cancelled",
        Expired => "expired",
        Skipped => "skipped",
    }
);

impl PublicState {
    /// Whether an execution in this state has ended.
    pub const fn is_terminal(self) -> bool {
        use PublicState as S;
        matches!(self, S::Completed | S::Failed | S::Cancelled | S::Expired | S::Skipped)
    }
}

/// All seven dimensions at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StateVector {
    /// Where in its life it is.
    pub lifecycle_phase: LifecyclePhase,
    /// Who has it.
    pub ownership_state: OwnershipState,
    /// Whether it may be handed out.
    pub eligibility_state: EligibilityState,
    /// What it waits for.
    pub blocking_reason: BlockingReason,
    /// How it ended.
    pub terminal_outcome: TerminalOutcome,
    /// Where its attempt stands.
    pub attempt_state: AttemptState,
    /// One word for a person.
    pub public_state: PublicState,
}

/// Derives the state from the facts. Of several reasons that hold at once the first of hold, dependencies, delay, budget,
/// quota shows.
pub fn state_vector(execution: &Execution) -> StateVector {
    let (eligibility_state, blocking_reason) = waiting(execution);
    StateVector {
        lifecycle_phase: lifecycle_phase(execution),
        ownership_state: ownership_state(execution),
        eligibility_state,
        blocking_reason,
        terminal_outcome: terminal_outcome(execution),
        attempt_state: attempt_state(execution),
        public_state: public_state(execution),
    }
}

/// The one word shown to a person.
pub fn public_state(execution: &Execution) -> PublicState {
    let runnable = match &execution.phase {
        Phase::Runnable(runnable) => runnable,
        Phase::Active(_) => return PublicState::Active,
        Phase::Suspended(_) => return PublicState::Suspended,
        Phase::Terminal(outcome) => return ended_state(outcome.kind),
    };
    match waiting(execution).0 {
        EligibilityState::EligibleNow if runnable.next_claim.resumed => PublicState::Resumable,
        EligibilityState::NotEligibleUntilTime => PublicState::Delayed,
        EligibilityState::BlockedByDependencies => PublicState::WaitingChildren,
        EligibilityState::BlockedByBudget | EligibilityState::BlockedByQuota => PublicState::RateLimited,
        _ => PublicState::Waiting,
    }
}

/// Why the execution does not run, in a person's words; `None` when nothing is in the way or it has ended.
pub fn blocking_detail(execution: &Execution) -> Option<String> {
    match &execution.phase {
        Phase::Runnable(runnable) => runnable_detail(execution, runnable),
        Phase::Suspended(suspension) if suspension.escalated => {
            Some("suspension timed out; a person must resume or cancel it".to_owned())
        }
        Phase::Suspended(suspension) => Some(match suspension.timeout_at {
            Some(at) => format!("suspended until its resume condition holds, at most until {at}"),
            None => "suspended until its resume condition holds".to_owned(),
        }),
        Phase::Active(_) | Phase::Terminal(_) => None,
    }
}

const fn lifecycle_phase(execution: &Execution) -> LifecyclePhase {
    match execution.phase {
        Phase::Runnable(_) => LifecyclePhase::Runnable,
        Phase::Active(_) => LifecyclePhase::Active,
        Phase::Suspended(_) => LifecyclePhase::Suspended,
        Phase::Terminal(_) => LifecyclePhase::Terminal,
    }
}

const fn ownership_state(execution: &Execution) -> OwnershipState {
    match &execution.phase {
        Phase::Active(lease) if lease.is_expired() => OwnershipState::LeaseExpiredReclaimable,
        Phase::Active(_) => OwnershipState::Leased,
        Phase::Runnable(runnable) if runnable.next_claim.revoked => OwnershipState::LeaseRevoked,
        Phase::Runnable(_) | Phase::Suspended(_) | Phase::Terminal(_) => OwnershipState::Unowned,
    }
}

fn waiting(execution: &Execution) -> (EligibilityState, BlockingReason) {
    use BlockingReason as Reason;
    use EligibilityState as Eligibility;
    let runnable = match &execution.phase {
        Phase::Runnable(runnable) => runnable,
        Phase::Suspended(suspension) if suspension.escalated => {
            return (Eligibility::NotApplicable, Reason::PausedByOperator);
        }
        Phase::Suspended(suspension) => return (Eligibility::NotApplicable, suspended_reason(suspension.reason_code)),
        Phase::Active(_) | Phase::Terminal(_) => return (Eligibility::NotApplicable, Reason::None),
    };
    if execution.hold.is_some() {
        return (Eligibility::BlockedByOperator, Reason::PausedByOperator);
    }
    if execution.waits_for_dependencies() {
        return (Eligibility::BlockedByDependencies, Reason::WaitingForChildren);
    }
    if let Some(delay) = &runnable.delay {
        return (Eligibility::NotEligibleUntilTime, delay_reason(delay.reason));
    }
    match runnable.block.as_ref().map(|block| block.cause) {
        Some(Cause::Budget(_)) => (Eligibility::BlockedByBudget, Reason::WaitingForBudget),
        Some(Cause::Quota(_)) => (Eligibility::BlockedByQuota, Reason::WaitingForQuota),
        None => (Eligibility::EligibleNow, Reason::WaitingForWorker),
    }
}

const fn delay_reason(reason: DelayReason) -> BlockingReason {
    match reason {
        DelayReason::Requested => BlockingReason::WaitingForDelay,
        DelayReason::RetryBackoff => BlockingReason::WaitingForRetryBackoff,
        DelayReason::ResumeDelay => BlockingReason::WaitingForResumeDelay,
    }
}

const fn suspended_reason(code: ReasonCode) -> BlockingReason {
    match code {
        ReasonCode::WaitingForSignal => BlockingReason::WaitingForSignal,
        ReasonCode::WaitingForApproval => BlockingReason::WaitingForApproval,
        ReasonCode::WaitingForCallback => BlockingReason::WaitingForCallback,
        ReasonCode::WaitingForToolResult => BlockingReason::WaitingForToolResult,
        ReasonCode::OperatorReview | ReasonCode::ManualPause => BlockingReason::PausedByOperator,
        ReasonCode::Policy => BlockingReason::PausedByPolicy,
        ReasonCode::Budget => BlockingReason::WaitingForBudget,
    }
}

fn terminal_outcome(execution: &Execution) -> TerminalOutcome {
    match execution.outcome().map(|outcome| outcome.kind) {
        None => TerminalOutcome::None,
        Some(OutcomeKind::Success) => TerminalOutcome::Success,
        Some(OutcomeKind::Failed) => TerminalOutcome::Failed,
        Some(OutcomeKind::Cancelled) => TerminalOutcome::Cancelled,
        Some(OutcomeKind::Expired) => TerminalOutcome::Expired,
        Some(OutcomeKind::Skipped) => TerminalOutcome::Skipped,
    }
}

const fn ended_state(kind: OutcomeKind) -> PublicState {
    match kind {
        OutcomeKind::Success => PublicState::Completed,
        OutcomeKind::Failed => PublicState::Failed,
        OutcomeKind::Cancelled => PublicState::Cancelled,
        OutcomeKind::Expired => PublicState::Expired,
        OutcomeKind::Skipped => PublicState::Skipped,
    }
}

const fn attempt_state(execution: &Execution) -> AttemptState {
    match &execution.phase {
        Phase::Active(lease) if lease.is_expired() => AttemptState::AttemptInterrupted,
        Phase::Active(_) => AttemptState::RunningAttempt,
        Phase::Suspended(_) => AttemptState::AttemptInterrupted,
        Phase::Terminal(_) if execution.attempt.is_some() => AttemptState::AttemptTerminal,
        Phase::Terminal(_) => AttemptState::None,
        Phase::Runnable(runnable) if runnable.next_claim.continues => AttemptState::AttemptInterrupted,
        Phase::Runnable(runnable) => match runnable.next_claim.kind {
            AttemptKind::Initial => AttemptState::PendingFirstAttempt,
            AttemptKind::Retry => AttemptState::PendingRetryAttempt,
            AttemptKind::Reclaim => AttemptState::PendingReclaimAttempt,
            AttemptKind::Replay => AttemptState::PendingReplayAttempt,
        },
    }
}

fn runnable_detail(execution: &Execution, runnable: &Runnable) -> Option<String> {
    if let Some(hold) = &execution.hold {
        return Some(match &hold.reason {
            Some(reason) => format!("held by an operator since {}: {reason}", hold.since),
            None => format!("held by an operator since {}", hold.since),
        });
    }
    if execution.unopened {
        return Some("flow not opened yet".to_owned());
    }
    if execution.follow_ups.reopen_edges {
        return Some("replayed; its descendants are being reopened".to_owned());
    }
    if execution.waits_for_cancelled_children() {
        return Some("replayed; what it spawned before is being cancelled".to_owned());
    }
    if let Some(dependencies) = execution.dependencies.as_ref().filter(|deps| deps.waiting) {
        return Some(format!("waiting for {} of its dependencies", dependencies.unsatisfied));
    }
    if let Some(delay) = &runnable.delay {
        return Some(delayed_detail(delay.reason, delay.until));
    }
    if let Some(block) = &runnable.block {
        return Some(block.detail.clone());
    }
    let grant = runnable.grant.as_ref()?;
    Some(format!("granted to {} until {}", grant.worker, grant.expires_at))
}

fn delayed_detail(reason: DelayReason, until: Timestamp) -> String {
    match reason {
        DelayReason::Requested => format!("delayed until {until}"),
        DelayReason::RetryBackoff => format!("retried at {until}"),
        DelayReason::ResumeDelay => format!("resumed, eligible at {until}"),
    }
}
