//! Every row of the pump has a test that goes red without it.

use std::process::{Command, Stdio};

use ff_engine::Duty;

use crate::support::WITHOUT;

/// The test that fails when a duty is turned off. The ones of the suite run on every store; the others need a look behind
/// the interface.
const fn test_of(duty: Duty) -> &'static str {
    match duty {
        Duty::DelayOver => "suite_memory::time::a_delayed_execution_becomes_eligible",
        Duty::GrantLapsed => "suite_memory::time::a_lapsed_grant_goes_back_to_its_queue",
        Duty::LeaseExpired => "suite_memory::time::an_expired_lease_is_claimed_by_the_next_worker",
        Duty::AttemptTimeout => "suite_memory::time::an_attempt_timeout_fails_the_attempt",
        Duty::ExecutionDeadline => "suite_memory::time::a_deadline_expires_the_execution",
        Duty::SuspensionTimeout => "suite_memory::time::a_suspension_times_out_as_it_was_told",
        Duty::WaitpointExpired => "suite_memory::time::an_unused_pending_waitpoint_closes",
        Duty::BudgetReset => "suite_memory::time::a_budget_that_resets_releases_what_waits",
        Duty::QuotaWindowMoved => "suite_memory::time::a_window_that_moves_releases_what_waits",
        Duty::SlotFreed | Duty::Outbox => "suite_memory::time::a_freed_slot_releases_what_waits",
        Duty::StopSweep => "suite_memory::time::a_breached_budget_stops_what_runs",
        Duty::ClosedBudgetQueue => "suite_memory::time::work_queued_under_a_closed_budget_is_shown_as_blocked",
        Duty::ResolveEdges | Duty::Cascade => "suite_memory::time::the_failure_of_a_parent_skips_its_descendants",
        Duty::SiblingCancel => "suite_memory::time::a_decided_group_cancels_who_it_no_longer_needs",
        Duty::Reopen => "suite_memory::time::a_replay_reopens_skipped_descendants",
        Duty::FlowOpen => "suite_memory::time::an_opened_flow_lets_its_members_go",
        Duty::FlowCancel => "suite_memory::time::a_cancelled_flow_cancels_its_members",
        Duty::FlowEnd | Duty::FlowRetention => "suite_memory::time::an_ended_flow_is_forgotten_with_its_members",
        Duty::Retention => "suite_memory::time::an_ended_execution_is_forgotten_after_its_retention",
        Duty::WorkerTtl => "suite_memory::time::a_worker_that_is_silent_is_gone",
        Duty::SlotCheck => "pump::outbox::a_slot_nobody_holds_is_freed_by_the_check",
        Duty::LivenessSweep => "pump::limits::the_sweep_finds_blocked_work_its_cause_does_not_know_of",
        Duty::AuditSweep => "pump::background::an_audit_writes_what_has_drifted_again",
        Duty::RangeLease => "pump::background::replicas_share_the_partitions_and_take_over_from_the_dead",
    }
}

/// Runs one test of this binary in a process of its own; whether it passed.
fn passes(test: &str, without: Option<Duty>) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([test, "--exact"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.env(WITHOUT, without.map_or("", Duty::as_str));
    command.status().unwrap().success()
}

#[test]
fn every_duty_that_is_turned_off_is_noticed() {
    let mut unnoticed = Vec::new();
    for duty in Duty::ALL {
        let test = test_of(*duty);
        assert!(passes(test, None), "{test} fails as it is");
        let noticed = !passes(test, Some(*duty));
        let verdict = if noticed { "red" } else { "NOT NOTICED" };
        println!("{:<20} {verdict:<12} {test}", duty.as_str());
        unnoticed.extend((!noticed).then_some(duty.as_str()));
    }
    assert!(unnoticed.is_empty(), "turned off and not noticed: {unnoticed:?}");
}
