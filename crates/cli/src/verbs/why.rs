//! Why an execution stands where it stands, and what somebody who looks at it may want to do, in a person's words.

use ff_core::id::ExecutionId;
use ff_core::state::{BlockingReason, PublicState};
use ff_core::time::Timestamp;
use ff_core::view::StateView;

use super::{id, when};

/// Why it waits; nothing when nothing is in its way.
pub(crate) fn because(state: &StateView, now: Timestamp) -> Option<String> {
    let detail = state.blocking_detail.as_ref()?;
    if state.public_state == PublicState::Suspended {
        return Some(awaited(state.state_vector.blocking_reason).to_owned());
    }
    Some(when::in_words(detail, now))
}

/// What a suspended execution waits for.
const fn awaited(reason: BlockingReason) -> &'static str {
    match reason {
        BlockingReason::WaitingForApproval => "waits for a person's yes or no",
        BlockingReason::WaitingForCallback => "waits for a callback",
        BlockingReason::WaitingForToolResult => "waits for what a tool gives",
        BlockingReason::WaitingForBudget => "waits for a budget",
        BlockingReason::PausedByOperator => "waits for an operator",
        BlockingReason::PausedByPolicy => "is paused by a policy",
        _ => "waits for a signal",
    }
}

/// What to do about it.
pub(crate) fn next(id: ExecutionId, state: &StateView) -> Option<String> {
    let short = id::short(id.uuid());
    let is_decided = matches!(
        state.state_vector.blocking_reason,
        BlockingReason::WaitingForApproval | BlockingReason::PausedByOperator
    );
    match state.public_state {
        PublicState::Suspended if is_decided => Some(format!("ff approve {short}, or ff reject {short}")),
        PublicState::Suspended => Some(format!("ff signal {short} NAME")),
        PublicState::Failed | PublicState::Expired => Some(format!("ff history {short}, ff replay {short}")),
        PublicState::Completed => Some(format!("ff result {short}")),
        PublicState::Active => Some(format!("ff tail {short}")),
        PublicState::Cancelled | PublicState::Skipped => None,
        _ => Some(format!("ff explain {short}")),
    }
}
