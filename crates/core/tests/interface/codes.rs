//! The codes are those that were promised, each with its one status.

use std::collections::BTreeMap;

use ff_core::error::{Code, Help};

const PROMISED: &[(u16, &str)] = &[
    (
        400,
        "invalid_input invalid_id invalid_capabilities invalid_policy invalid_tag_key invalid_condition invalid_kid
         invalid_secret_hex invalid_cursor partition_mismatch self_referencing_edge fence_required graph_too_large",
    ),
    (401, "unauthenticated"),
    (403, "forbidden invalid_token"),
    (
        404,
        "not_found execution_not_found flow_not_found edge_not_found attempt_not_found key_not_found
         waitpoint_not_found step_not_found budget_not_found quota_policy_not_found lane_not_found worker_not_found result_not_available",
    ),
    (405, "method_not_allowed"),
    (408, "request_timeout"),
    (
        409,
        "execution_not_active execution_not_terminal execution_not_suspended execution_not_eligible
         execution_not_reclaimable stale_lease lease_expired lease_revoked no_active_lease invalid_claim_grant
         claim_grant_expired capability_mismatch already_exists already_suspended waitpoint_closed
         waitpoint_already_exists pending_waitpoint_expired target_not_signalable signal_limit_exceeded
         stale_graph_revision cycle_detected dependency_already_exists execution_not_in_flow
         already_member_of_different_flow flow_already_terminal group_policy_fixed max_replays_exhausted
         max_reclaims_exceeded duplicate_worker_instance rotation_conflict lane_not_accepting stream_closed step_conflict step_limit_exceeded
         stale_owner_cannot_append contention",
    ),
    (410, "cursor_expired callback_closed"),
    (413, "payload_too_large frame_too_large batch_too_large"),
    (415, "unsupported_media_type"),
    (429, "rate_limited too_many_streams too_many_signatures"),
    (500, "internal"),
    (503, "unavailable shutting_down"),
    (504, "timeout"),
];

/// Statuses under which the same call may succeed later, and the one code of another status for which that is so.
const RETRYABLE: ([u16; 4], &str) = ([408, 429, 503, 504], "contention");

#[test]
fn every_code_has_the_status_that_was_promised() {
    let promised: BTreeMap<&str, u16> = PROMISED
        .iter()
        .flat_map(|(status, codes)| codes.split_whitespace().map(|code| (code, *status)))
        .collect();
    let built: BTreeMap<&str, u16> = Code::ALL.iter().map(|code| (code.as_str(), code.status())).collect();
    assert_eq!(built, promised);
    for code in Code::ALL {
        let retryable = RETRYABLE.0.contains(&code.status()) || code.as_str() == RETRYABLE.1;
        assert_eq!(code.retryable(), retryable, "{code}");
    }
}

#[test]
fn every_code_says_why_it_came_and_what_to_do_in_sentences() {
    for code in Code::ALL {
        let Help { cause, remedy } = code.help();
        for text in [cause, remedy] {
            assert!(
                text.ends_with('.') && text.starts_with(char::is_uppercase),
                "{code}: {text}"
            );
        }
    }
}
