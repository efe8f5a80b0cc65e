//! Epochs and attempts: who runs it, since when, and how each run ended.

use ff_core::command::flow::ReplayExecution;
use ff_core::machine::decided::ClosedReason;
use ff_core::machine::placement::score;
use ff_core::machine::replay::{Past, replay};
use ff_core::record::{AttemptEndState, AttemptKind};
use ff_core::state::PublicState;
use ff_core::time::Duration;
use serde_json::json;

use crate::leases::MILLISECOND;
use crate::running::{Case, HOUR, MINUTE, Move, SECOND, seconds};
use crate::support::{LEASE_TTL, START};

#[test]
fn every_acquire_raises_the_epoch_by_one() {
    let mut case = Case::with_policy(&json!({"retry_policy": {"backoff": {"fixed": {"delay_ms": 0}}}}));
    let ends: [Move; 5] = [
        |case| _ = case.release().unwrap(),
        |case| _ = case.revoke(None).unwrap(),
        |case| _ = case.fail("transient").unwrap(),
        |case| {
            case.suspend();
            case.resume();
        },
        |case| case.pass_and_pump(LEASE_TTL),
    ];
    for (epoch, end) in (1..).zip(ends) {
        case.lease();
        let execution = case.execution();
        assert_eq!((execution.lease_epoch, case.lease_record().epoch), (epoch, epoch));
        assert_eq!(case.attempt().lease_epoch, epoch);
        end(&mut case);
        assert_eq!(case.execution().lease_epoch, epoch, "only an acquire raises it");
    }
}

#[test]
fn an_attempt_remembers_who_runs_it_and_when_it_first_got_a_lease() {
    let mut case = Case::new();
    case.claim();
    let first = case.attempt();
    assert_eq!(
        (first.index, first.kind, first.started_at),
        (0, AttemptKind::Initial, START)
    );
    assert_eq!((first.worker.as_str(), first.instance.as_str()), ("worker", "worker-1"));
    assert_eq!((first.leased, first.tier, first.end), (Duration::ZERO, 0, None));
    case.pass(seconds(4));
    case.release().unwrap();
    case.pass(HOUR);
    let mut other = case.store.claimant().unwrap();
    other.worker = "other".parse().unwrap();
    other.instance = "other-7".parse().unwrap();
    case.claim_as(&other);
    let second = case.attempt();
    assert_eq!((second.index, second.id, second.started_at), (0, first.id, START));
    assert_eq!((second.worker.as_str(), second.instance.as_str()), ("other", "other-7"));
    assert_eq!((second.lease_epoch, second.leased), (2, seconds(4)));
    let lease = case.lease_record();
    assert_eq!((lease.worker, lease.instance), (second.worker, second.instance));
}

#[test]
fn a_new_attempt_starts_with_nothing_of_the_last() {
    let mut case = Case::with_policy(&json!({"retry_policy": {}})).leased();
    let usage = case.usage();
    case.report(&usage).unwrap();
    case.pass(seconds(7));
    let old = case.attempt();
    case.fail("transient").unwrap();
    case.pass_and_pump(SECOND);
    let claimant = case.claim();
    let new = case.attempt();
    assert_eq!(
        (new.index, new.kind, new.id),
        (1, AttemptKind::Retry, claimant.attempt_id)
    );
    assert_ne!(new.id, old.id);
    assert_eq!((new.started_at, new.leased), (START + seconds(8), Duration::ZERO));
    assert!(new.usage.is_empty() && new.end.is_none());
}

fn is_archived(case: &Case) -> bool {
    !case.archived().is_empty()
}

#[test]
fn an_attempt_is_archived_exactly_when_another_follows_it() {
    let ends: [(Move, bool); 8] = [
        (|case| _ = case.release().unwrap(), false),
        (|case| _ = case.delay(START + HOUR).unwrap(), false),
        (Case::suspend, false),
        (|case| _ = case.complete().unwrap(), false),
        (|case| _ = case.fail("permanent").unwrap(), false),
        (|case| _ = case.fail("transient").unwrap(), true),
        (|case| _ = case.revoke(None).unwrap(), true),
        (|case| case.pass_and_pump(LEASE_TTL), true),
    ];
    for (index, (end, archived)) in ends.into_iter().enumerate() {
        let mut case = Case::with_policy(&json!({"retry_policy": {}})).leased();
        case.pass(SECOND);
        end(&mut case);
        assert_eq!(is_archived(&case), archived, "end {index}");
        if archived {
            assert_eq!(case.archived(), [case.attempt()], "as it stands on the execution");
        }
    }
}

#[test]
fn a_replay_archives_the_attempt_that_ended_once() {
    for archived in [false, true] {
        let mut case = Case::new().leased();
        case.complete().unwrap();
        let past = Past {
            archived,
            has_failed_edges: false,
            steps: Vec::new(),
        };
        let command = ReplayExecution::default();
        case.act(|execution, context| replay(execution, &command, &past, context))
            .unwrap();
        assert_eq!(is_archived(&case), !archived);
    }
}

#[test]
fn a_replay_that_finds_a_timed_out_and_expired_execution_archives_its_attempt_once() {
    let policy = json!({
        "retry_policy": {},
        "timeout_policy": {"attempt_timeout_ms": 1_000, "execution_deadline_ms": 1_500},
    });
    let mut case = Case::with_policy(&policy).leased();
    case.pass(seconds(10));
    let past = Past {
        archived: false,
        has_failed_edges: false,
        steps: Vec::new(),
    };
    let command = ReplayExecution::default();
    case.act(|execution, context| replay(execution, &command, &past, context))
        .unwrap();
    assert_eq!(case.archived().len(), 1);
}

#[test]
fn an_attempt_ends_as_its_lease_did() {
    use AttemptEndState as State;
    use ClosedReason as Closed;
    let ends: [(Move, State, Closed); 6] = [
        (
            |case| _ = case.complete().unwrap(),
            State::EndedSuccess,
            Closed::Success,
        ),
        (
            |case| _ = case.fail("permanent").unwrap(),
            State::EndedFailure,
            Closed::Failure,
        ),
        (
            |case| _ = case.fail("transient").unwrap(),
            State::EndedFailure,
            Closed::Failure,
        ),
        (
            |case| _ = case.cancel(None).unwrap(),
            State::EndedCancelled,
            Closed::Cancelled,
        ),
        (
            |case| _ = case.revoke(None).unwrap(),
            State::InterruptedReclaimed,
            Closed::Reclaimed,
        ),
        (|case| case.pump(), State::InterruptedReclaimed, Closed::Reclaimed),
    ];
    for (index, (end, state, reason)) in ends.into_iter().enumerate() {
        let mut case = Case::with_policy(&json!({"retry_policy": {}})).leased();
        case.pass(if index == 5 { LEASE_TTL } else { SECOND });
        end(&mut case);
        let attempt = case.attempt();
        let ended = attempt.end.unwrap();
        assert_eq!((ended.state, ended.at), (state, case.now()));
        let failed = state == State::EndedFailure;
        assert_eq!(
            ended.failure.map(|failure| failure.reason),
            failed.then(|| "it broke".to_owned())
        );
        let [stream] = &case.draft.stream_ends[..] else {
            panic!("{:?}", case.draft.stream_ends)
        };
        assert_eq!((stream.execution_id, stream.attempt_index), (case.id, 0));
        assert_eq!((stream.reason, stream.at), (reason, case.now()));
    }
}

#[test]
fn a_deadline_closes_the_stream_as_expired() {
    let mut case = Case::with_policy(&json!({"timeout_policy": {"execution_deadline_ms": 1000}})).leased();
    case.pass_and_pump(SECOND);
    assert_eq!(case.draft.stream_ends[0].reason, ClosedReason::Expired);
}

#[test]
fn an_attempt_that_was_interrupted_ends_once() {
    let mut case = Case::with_policy(&json!({"retry_policy": {}})).leased();
    case.fail("transient").unwrap();
    let end = case.attempt().end;
    case.pass(MILLISECOND);
    case.cancel(None).unwrap();
    assert_eq!(case.attempt().end, end);
    assert!(case.draft.stream_ends.is_empty());
}

#[test]
fn whoever_leaves_its_lease_goes_back_to_its_old_place() {
    let mut case = Case::new();
    let before = score(&case.execution());
    for _ in 0..3 {
        case.lease();
        case.pass(SECOND);
        case.release().unwrap();
        assert_eq!(score(&case.execution()), before);
    }
}

#[test]
fn a_delay_lasts_until_its_moment_and_one_in_the_past_is_none() {
    let mut case = Case::new().leased();
    case.delay(START + MINUTE).unwrap();
    assert_eq!(
        (case.state(), case.due_at()),
        (PublicState::Delayed, Some(START + MINUTE))
    );
    case.pass_and_pump(MINUTE);
    assert_eq!((case.state(), case.due_at()), (PublicState::Waiting, None));
    assert_eq!(case.happened().last(), Some(&"delay_over"));
    case.lease();
    case.delay(case.now()).unwrap();
    assert_eq!(case.state(), PublicState::Waiting);
}

#[test]
fn what_ended_the_last_suspension_stays_until_the_execution_ends() {
    let mut case = Case::with_policy(&json!({"retry_policy": {}})).leased();
    case.suspend();
    case.resume();
    assert_eq!(case.state(), PublicState::Resumable);
    case.lease();
    case.release().unwrap();
    let resumed = case.execution().resumed;
    assert!(resumed.is_some());
    assert_eq!(case.state(), PublicState::Waiting);
    case.lease();
    case.fail("transient").unwrap();
    assert_eq!(case.execution().resumed, resumed, "a retry is told");
    case.pass_and_pump(SECOND);
    case.lease();
    case.pass_and_pump(LEASE_TTL);
    assert_eq!(case.execution().resumed, resumed, "a reclaim is told");
    case.lease();
    case.complete().unwrap();
    assert_eq!(case.execution().resumed, None);
}
