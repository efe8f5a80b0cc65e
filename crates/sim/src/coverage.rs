//! What a run over many seeds must have exercised to count.

use ff_core::error::Code;
use ff_core::fabric::OPERATIONS;

use crate::store::Fault;
use crate::tally::{Operation, Tally};

/// How often every operation must be accepted.
const ACCEPTED_MIN: u64 = 100;
/// How often every kind of fault must strike.
const STRUCK_MIN: u64 = 1_000;

/// Answers that must be seen, by operation.
const OUTCOMES: &[(Operation, &[&str])] = &[
    (
        "create_execution",
        &["created", "duplicate", "duplicate, content differs"],
    ),
    ("create_executions", &["all", "some"]),
    ("claim_for_worker", &["grant", "none"]),
    ("claim_from_grant", &["task", "resumed task"]),
    ("claim", &["tasks", "none"]),
    ("renew", &["renewed", "stop_requested"]),
    ("release", &["now", "already", "cancelled"]),
    ("delay", &["now", "already", "cancelled"]),
    ("complete", &["now", "already"]),
    ("fail", &["retry_scheduled", "terminal_failed", "cancelled"]),
    (
        "wait_children",
        &["already_satisfied", "waiting", "dependency_impossible", "cancelled"],
    ),
    ("suspend", &["suspended", "already_satisfied", "cancelled"]),
    (
        "report_usage",
        // A budget that is gone is refused as one that never was.
        &["ok", "soft_breach", "hard_breach", "already_applied"],
    ),
    ("record_steps", &["recorded", "already", "some"]),
    ("read_steps", &["page", "last page"]),
    ("cancel_execution", &["now", "already"]),
    ("replay_execution", &["now", "already"]),
    ("revoke_lease", &["now", "already_satisfied", "cancelled"]),
    ("resume_execution", &["now", "already"]),
    (
        "deliver_signal",
        &[
            "duplicate",
            "resume_condition_satisfied",
            "appended_to_waitpoint",
            "buffered_for_pending_waitpoint",
            "ignored_not_in_condition",
        ],
    ),
    ("rotate_waitpoint_secret", &["rotated", "unchanged"]),
    ("create_flow", &["created", "exists"]),
    ("add_execution_to_flow", &["added", "already_member"]),
    ("open_flow", &["now", "already"]),
    ("apply_dependency_to_child", &["applied", "already_applied"]),
    (
        "cancel_flow",
        &["sealed", "cancel_all scheduled", "cancel_pending scheduled"],
    ),
    ("create_budget", &["created", "exists"]),
    ("reset_budget", &["now", "already"]),
    ("delete_budget", &["now", "already"]),
    (
        "charge_budget",
        &["ok", "soft_breach", "hard_breach", "already_applied"],
    ),
    ("create_quota_policy", &["created", "exists"]),
    ("update_quota_policy", &["now", "unchanged"]),
    ("delete_quota_policy", &["now", "already"]),
];

/// Refusals that cannot come from an engine called with typed values, and why.
const IMPOSSIBLE: &[(Code, &str)] = &[
    (Code::InvalidCapabilities, "refused when a set is parsed"),
    (Code::InvalidKid, "refused when a kid is parsed"),
    (Code::InvalidSecretHex, "refused when a secret is parsed"),
    (Code::Unauthenticated, "the server's"),
    (Code::NotFound, "the server's"),
    (Code::MethodNotAllowed, "the server's"),
    (Code::RequestTimeout, "the server's"),
    (Code::CallbackClosed, "the server's"),
    (Code::UnsupportedMediaType, "the server's"),
    (Code::RateLimited, "the server's"),
    (Code::Timeout, "the server's"),
    (Code::LaneNotFound, "a lane is there from its first use on"),
    (Code::TooManyStreams, "needs 20,000 readers"),
    (Code::TooManySignatures, "needs 1,024 queues of one lane in a partition"),
    (Code::GraphTooLarge, "needs a graph of 10,000 nodes"),
    (Code::Internal, "an error if it ever comes"),
];

/// What a run left out; empty when it counts.
pub fn missing(tally: &Tally) -> Vec<String> {
    let operations = OPERATIONS
        .iter()
        .map(|operation| operation.name)
        .filter_map(|operation| {
            let accepted = tally.accepted(operation);
            (accepted < ACCEPTED_MIN).then(|| format!("{operation} was accepted {accepted} times"))
        });
    let outcomes = OUTCOMES.iter().flat_map(|(operation, outcomes)| {
        let unseen = outcomes
            .iter()
            .filter(|outcome| !tally.outcomes.contains_key(&(*operation, **outcome)));
        unseen.map(move |outcome| format!("{operation} never answered {outcome}"))
    });
    let possible = Code::ALL
        .iter()
        .filter(|code| IMPOSSIBLE.iter().all(|(impossible, _)| impossible != *code));
    let codes = possible.filter(|code| tally.refused(**code) == 0);
    let codes = codes.map(|code| format!("nothing was ever refused with {code}"));
    let faults = Fault::ALL.into_iter().filter_map(|fault| {
        let struck = tally.struck(fault);
        (struck < STRUCK_MIN).then(|| format!("{fault:?} struck {struck} times"))
    });
    operations.chain(outcomes).chain(codes).chain(faults).collect()
}
