//! active → delayed or failed: fail, and what the retry policy makes of a failure.

use super::change::{Change, Ending};
use super::context::Context;
use super::decided::{ClosedReason, Decided};
use super::fence::{self, Fenced};
use super::lease::check_text;
use super::steps;
use crate::command::lease::{Fail, Failed};
use crate::error::Rejection;
use crate::limits::RETRY_AFTER_MAX;
use crate::record::{
    AttemptEndState, AttemptKind, Delay, DelayReason, Execution, Failure, Happening, LeaseEnd, LeaseOperation,
};
use crate::time::{Duration, Timestamp};

/// The attempt failed: it is retried as the policy allows, or the execution ends. Safe to repeat with the same lease.
pub fn fail(execution: &Execution, command: &Fail, context: &Context) -> Result<Decided<Failed>, Rejection> {
    check_text("reason", &command.reason)?;
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    if let Fenced::Repeated(end) = fence::check(&change.after, fence, LeaseOperation::Fail)? {
        return Ok(change.finish(failed_before(&end)));
    }
    fence::confirm(&mut change);
    steps::add(&mut change, &command.steps)?;
    let failure = Failure {
        reason: command.reason.clone(),
        category: command.category.clone(),
    };
    let by = FailedBy::Holder {
        retry_after: command.retry_after,
    };
    let failed = end_failed_attempt(&mut change, failure, by);
    Ok(change.finish(failed))
}

fn failed_before(end: &LeaseEnd) -> Failed {
    match end {
        LeaseEnd::RetryScheduled { delay_until } => Failed::RetryScheduled {
            delay_until: *delay_until,
        },
        LeaseEnd::FlowCancelled { .. } => Failed::Cancelled,
        _ => Failed::TerminalFailed,
    }
}

/// What made an attempt fail.
#[derive(Clone, Copy)]
pub(crate) enum FailedBy {
    /// The worker that held its lease.
    Holder {
        /// What it says about when a retry may be of use.
        retry_after: Option<Duration>,
    },
    /// Its attempt timeout: whoever held the lease did nothing, and is never told that it did.
    Timeout,
}

/// Ends the live lease and its attempt with `failure` and applies the retry policy.
pub(crate) fn end_failed_attempt(change: &mut Change<'_>, failure: Failure, by: FailedBy) -> Failed {
    let Some(delay_until) = retry_at(change, &failure, by) else {
        change.end_lease(match by {
            FailedBy::Holder { .. } => LeaseEnd::Failed,
            FailedBy::Timeout => LeaseEnd::TimedOut,
        });
        change.terminate(Ending::failed(failure, ClosedReason::Failure));
        return Failed::TerminalFailed;
    };
    let passed = match by {
        FailedBy::Holder { .. } => change.leave_lease(LeaseOperation::Fail, LeaseEnd::RetryScheduled { delay_until }),
        FailedBy::Timeout => change.lose_lease(LeaseEnd::TimedOut),
    };
    if !passed {
        return Failed::Cancelled;
    }
    let tier = change.after.attempt.as_ref().map_or(0, |attempt| attempt.tier + 1);
    let detail = format!("{}; again at {delay_until}", failure.reason);
    change.end_attempt(AttemptEndState::EndedFailure, Some(failure), ClosedReason::Failure);
    change.archive_attempt();
    change.after.counts.retries += 1;
    let next_claim = change.new_attempt(AttemptKind::Retry, tier);
    change.requeue(
        next_claim,
        Some(Delay {
            until: delay_until,
            reason: DelayReason::RetryBackoff,
        }),
    );
    change.note(Happening::RetryScheduled, Some(detail));
    Failed::RetryScheduled { delay_until }
}

/// When the policy tries again after `failure`, not before its holder said; `None` when it does not.
fn retry_at(change: &Change<'_>, failure: &Failure, by: FailedBy) -> Option<Timestamp> {
    let policy = change.after.definition.policy.retry_policy.as_ref()?;
    let retries = change.after.counts.retries;
    let allowed = policy.allows(&failure.category, retries);
    let asked = match by {
        FailedBy::Holder { retry_after } => retry_after.unwrap_or_default().min(RETRY_AFTER_MAX),
        FailedBy::Timeout => Duration::ZERO,
    };
    allowed.then(|| change.now + policy.backoff.delay(retries, change.context.dice).max(asked))
}
