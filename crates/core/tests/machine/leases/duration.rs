//! How long a lease runs, and what becomes of one that runs out.

use ff_core::error::Code;
use ff_core::machine::claim;
use ff_core::machine::claim::Redeemed;
use ff_core::machine::lease::{check_grant_ttl, check_lease_ttl, confirm};
use ff_core::record::{AttemptKind, Happening, LeaseEnd, Phase};
use ff_core::state::PublicState;
use ff_core::time::Duration;

use crate::leases::MILLISECOND;
use crate::running::{Case, HOUR, MINUTE, Move, SECOND, code, seconds};
use crate::support::{LEASE_TTL, START};

#[test]
fn a_first_lease_runs_10_seconds_until_it_is_renewed_and_then_as_long_as_asked() {
    let mut case = Case::new();
    case.claim();
    let lease = case.lease_record();
    assert_eq!((lease.expires_at, lease.ttl), (START + seconds(10), LEASE_TTL));
    assert_eq!((lease.acquired_at, lease.confirmed), (START, false));
    case.pass(seconds(4));
    let renewed = case.renew().unwrap();
    assert_eq!(renewed.expires_at, START + seconds(4) + LEASE_TTL);
    assert_eq!(renewed.stop_requested, None);
    assert_eq!(case.lease_record().expires_at, renewed.expires_at);
    assert!(case.lease_record().confirmed);
}

#[test]
fn a_confirmed_lease_is_used_and_otherwise_as_it_was() {
    let mut case = Case::new();
    case.claim();
    let (before, fence) = (case.execution(), case.fence());
    assert_eq!(
        code(case.act(|execution, context| confirm(execution, None, context))),
        Code::FenceRequired
    );
    case.pass(SECOND);
    case.act(|execution, context| confirm(execution, Some(&fence), context))
        .unwrap();
    let mut wanted = before;
    wanted.updated_at = START + SECOND;
    if let Phase::Active(lease) = &mut wanted.phase {
        lease.confirmed = true;
    }
    assert_eq!(case.execution(), wanted);
    assert!(case.draft.history.is_empty());
    assert_eq!(case.draft.not_after, Some(START + seconds(10)));
    case.act(|execution, context| confirm(execution, Some(&fence), context))
        .unwrap();
    assert!(case.draft.writes.is_empty(), "it was confirmed before");
    case.pass(seconds(10));
    assert_eq!(
        code(case.act(|execution, context| confirm(execution, Some(&fence), context))),
        Code::LeaseExpired
    );
}

#[test]
fn a_first_lease_shorter_than_10_seconds_runs_its_own_time() {
    let mut case = Case::new();
    let mut claimant = case.store.claimant().unwrap();
    claimant.lease_ttl = seconds(3);
    case.claim_as(&claimant);
    assert_eq!(case.lease_record().expires_at, START + seconds(3));
}

#[test]
fn a_lease_of_a_redeemed_grant_runs_its_whole_time_at_once() {
    let mut case = Case::new();
    let claimant = case.grant();
    let redeemed = case.act(|execution, context| claim::claim_from_grant(execution, &claimant, context));
    assert_eq!(redeemed.unwrap(), Redeemed::Now);
    let lease = case.lease_record();
    assert_eq!((lease.expires_at, lease.confirmed), (START + LEASE_TTL, true));
    assert_eq!(lease.grant, Some(claimant.grant_id));
}

#[test]
fn a_renewal_may_change_the_time_between_renewals_for_good() {
    let mut case = Case::new().leased();
    assert_eq!(case.renew_for(Some(HOUR)).unwrap().expires_at, START + HOUR);
    case.pass(MINUTE);
    assert_eq!(case.renew().unwrap().expires_at, START + MINUTE + HOUR);
}

#[test]
fn a_lease_lasts_1_second_to_24_hours() {
    let day = Duration::from_hours(24);
    let mut case = Case::new().leased();
    for good in [SECOND, day] {
        assert!(case.renew_for(Some(good)).is_ok());
        assert_eq!(check_lease_ttl(good), Ok(good));
    }
    for bad in [Duration::ZERO, Duration::from_millis(999), day + MILLISECOND] {
        assert_eq!(code(case.renew_for(Some(bad))), Code::InvalidInput);
        assert_eq!(code(check_lease_ttl(bad)), Code::InvalidInput);
    }
}

#[test]
fn a_grant_lasts_1_millisecond_to_60_seconds() {
    for good in [MILLISECOND, MINUTE] {
        assert_eq!(check_grant_ttl(good), Ok(good));
    }
    for bad in [Duration::ZERO, MINUTE + MILLISECOND] {
        assert_eq!(code(check_grant_ttl(bad)), Code::InvalidInput);
    }
}

#[test]
fn a_lease_is_the_holders_until_the_moment_it_expires() {
    for (wait, refused) in [
        (START + LEASE_TTL - MILLISECOND, None),
        (START + LEASE_TTL, Some(Code::LeaseExpired)),
    ] {
        let mut case = Case::new().leased();
        case.store.wait_until(wait);
        assert_eq!(case.complete().err().map(|rejection| rejection.code), refused);
    }
}

#[test]
fn a_clock_that_goes_back_moves_no_time_back() {
    let mut case = Case::new().leased();
    case.store.now = START - MINUTE;
    assert_eq!(case.renew().unwrap().expires_at, START + LEASE_TTL);
    case.complete().unwrap();
    assert_eq!(case.execution().outcome().unwrap().at, START);
    assert_eq!(case.execution().updated_at, START);
}

#[test]
fn a_lease_nobody_used_goes_back_three_times_in_a_row_and_then_counts_as_a_reclaim() {
    let mut case = Case::new();
    for returns in 1..=3 {
        case.claim();
        case.pass_and_pump(seconds(10));
        let execution = case.execution();
        assert_eq!(
            (execution.counts.unconfirmed_returns, execution.counts.reclaims),
            (returns, 0)
        );
        assert!(execution.runnable().unwrap().next_claim.continues);
        assert_eq!(case.history.pop().unwrap().what, Happening::Returned);
    }
    case.claim();
    case.pass_and_pump(seconds(10));
    let execution = case.execution();
    assert_eq!(
        (execution.counts.unconfirmed_returns, execution.counts.reclaims),
        (0, 1)
    );
    assert_eq!(execution.runnable().unwrap().next_claim.kind, AttemptKind::Reclaim);
    assert_eq!(case.happened(), ["lease_expired", "reclaimable"]);
}

#[test]
fn any_fenced_call_ends_the_row_of_unused_leases() {
    let calls: [Move; 3] = [
        |case| drop(case.renew().unwrap()),
        |case| _ = case.release().unwrap(),
        |case| {
            let usage = case.usage();
            case.report(&usage).unwrap();
        },
    ];
    for call in calls {
        let mut case = Case::new();
        for _ in 0..2 {
            case.claim();
            case.pass_and_pump(seconds(10));
        }
        case.claim();
        call(&mut case);
        assert_eq!(case.execution().counts.unconfirmed_returns, 0);
    }
}

#[test]
fn a_lease_that_was_used_and_never_renewed_is_lost_and_not_returned() {
    let mut case = Case::new();
    case.claim();
    let usage = case.usage();
    case.report(&usage).unwrap();
    case.clear_outbox();
    case.pass_and_pump(seconds(10));
    assert_eq!(case.execution().counts.reclaims, 1);
}

#[test]
fn an_unused_lease_that_goes_back_leaves_no_trace_on_the_attempt() {
    let mut case = Case::new();
    case.claim();
    let before = case.attempt();
    case.pass_and_pump(seconds(10));
    let after = case.attempt();
    assert_eq!(after.leased, before.leased);
    assert_eq!((after.index, after.id, after.end), (before.index, before.id, None));
    assert!(case.archived().is_empty() && case.draft.stream_ends.is_empty());
}

#[test]
fn a_grace_keeps_a_lost_execution_back_and_its_lease_dead() {
    let mut case = Case::new().leased();
    case.store.settings.reclaim_grace = seconds(7);
    case.pass_and_pump(LEASE_TTL + SECOND);
    let reclaim_at = START + LEASE_TTL + seconds(7);
    assert_eq!(
        case.lease_record().reclaim_at,
        Some(reclaim_at),
        "counted from the expiry"
    );
    assert_eq!(case.due_at(), Some(reclaim_at));
    assert_eq!(code(case.renew()), Code::LeaseExpired);
    case.store.wait_until(reclaim_at);
    case.pump();
    assert_eq!(case.state(), PublicState::Waiting);
    assert_eq!(case.execution().ended_lease.unwrap().end, LeaseEnd::Expired);
    assert_eq!(case.attempt().leased, LEASE_TTL);
    assert_eq!(case.happened()[1..], ["reclaimable"]);
}
