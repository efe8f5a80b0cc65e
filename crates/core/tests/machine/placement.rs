//! Where a record belongs and when it is next due: order, queues, indexes and timers.

use crate::running::{Case, HOUR, MINUTE, Move, SECOND, budget_id, policy, quota_id, seconds};
use crate::support::{LEASE_TTL, START, submission};
use ff_core::capability::{CapabilitySet, Signature};
use ff_core::command::submit::CreateExecution;
use ff_core::id::{BudgetId, ExecutionId, FlowId, GrantId};
use ff_core::machine::claim::{Refusal, block, block_queued, unblock};
use ff_core::machine::placement::{self, Placement, QueueKey, placement, queue_key, score};
use ff_core::machine::time::{self, Timer};
use ff_core::name::{LaneId, Namespace};
use ff_core::record::{
    AttemptKind, Block, BudgetStop, Cause, CounterKey, Delay, DelayReason, Dependencies, EdgeGroupPolicy, Execution,
    FlowCounter, Grant, Hold, Outcome, OutcomeKind, Phase, Record, Runnable, StopRequest,
};
use ff_core::state::{BlockingReason, EligibilityState, PublicState, blocking_detail, public_state, state_vector};
use ff_core::time::{Duration, Timestamp};
use serde_json::json;
use uuid::Uuid;

fn at(offset: u64) -> Timestamp {
    START + seconds(offset)
}

/// An execution of this priority, submitted this many seconds after the start.
fn one(priority: u16, created: u64, id: u128) -> Execution {
    let mut execution = Case::submitted(&CreateExecution {
        priority,
        ..submission().unwrap()
    })
    .execution();
    let mut definition = (*execution.definition).clone();
    definition.created_at = at(created);
    execution.definition = definition.into();
    execution.id = ExecutionId::new(7, Uuid::from_u128(id));
    execution
}

fn runnable(execution: &mut Execution) -> &mut Runnable {
    match &mut execution.phase {
        Phase::Runnable(runnable) => runnable,
        other => panic!("{other:?}"),
    }
}

fn blocked_by(cause: Cause) -> Block {
    Block {
        cause,
        detail: "full".to_owned(),
        generation: 1,
        since: START,
    }
}

fn delayed(until: Timestamp) -> Delay {
    Delay {
        until,
        reason: DelayReason::Requested,
    }
}

fn granted(expires_at: Timestamp) -> Grant {
    Grant {
        id: GrantId::from_uuid(Uuid::from_u128(5)),
        worker: "worker".parse().unwrap(),
        instance: "worker-1".parse().unwrap(),
        expires_at,
        admitted: true,
        reclaim: false,
    }
}

fn held() -> Hold {
    Hold {
        since: START,
        reason: None,
    }
}

fn waiting_dependencies(unsatisfied: u64) -> Dependencies {
    Dependencies {
        policy: EdgeGroupPolicy::default(),
        fixed: true,
        waiting: true,
        unsatisfied,
        no_results: true,
    }
}

// Order and queues.

#[test]
fn higher_priorities_come_first_then_older_ones_then_smaller_ids() {
    let expected = [one(9, 5, 9), one(1, 0, 8), one(1, 3, 2), one(1, 3, 7), one(0, 0, 1)];
    let mut sorted: Vec<_> = expected.iter().rev().collect();
    sorted.sort_by_key(|execution| score(execution));
    assert_eq!(sorted, expected.iter().collect::<Vec<_>>());
}

#[test]
fn a_queue_is_a_namespace_a_lane_and_what_must_be_there_to_run() {
    let command = CreateExecution {
        namespace: Namespace::parse("tenant").unwrap(),
        lane_id: LaneId::parse("gpu").unwrap(),
        policy: policy(&json!({
            "routing_requirements": {"required_capabilities": ["b", "a"]},
            "budget_ids": [budget_id(2), budget_id(1)],
            "quota_policy_id": quota_id()
        })),
        ..submission().unwrap()
    };
    let execution = Case::submitted(&command).execution();
    let queue = QueueKey {
        namespace: command.namespace,
        lane: command.lane_id,
        signature: Signature {
            capabilities: CapabilitySet::parse(["a", "b"]).unwrap(),
            budgets: [budget_id(1), budget_id(2)].into(),
            quota: Some(quota_id()),
        },
    };
    assert_eq!(queue_key(&execution), queue);
    let score = score(&execution);
    assert_eq!(placement(&execution), Placement::Eligible { queue, score });
}

#[test]
fn what_admission_refused_waits_in_the_index_of_its_cause() {
    for cause in [Cause::Budget(budget_id(1)), Cause::Quota(quota_id())] {
        let mut execution = one(0, 0, 1);
        runnable(&mut execution).block = Some(blocked_by(cause));
        let score = score(&execution);
        assert_eq!(placement(&execution), Placement::Blocked { cause, score });
    }
}

#[test]
fn what_runs_is_listed_under_its_budgets() {
    let mut case = Case::with_policy(&json!({"budget_ids": [budget_id(2), budget_id(1)]}));
    case.claim();
    let budgets = vec![budget_id(1), budget_id(2)];
    assert_eq!(placement(&case.execution()), Placement::Leased { budgets });
    case.store.settings.reclaim_grace = MINUTE;
    case.renew().unwrap();
    case.pass_and_pump(LEASE_TTL);
    let in_grace = placement(&case.execution());
    assert!(matches!(in_grace, Placement::Leased { .. }), "{in_grace:?}");
}

#[test]
fn what_may_not_be_handed_out_is_nowhere() {
    let changes: [fn(&mut Execution); 8] = [
        |execution| runnable(execution).grant = Some(granted(at(5))),
        |execution| runnable(execution).delay = Some(delayed(at(5))),
        |execution| execution.hold = Some(held()),
        |execution| execution.unopened = true,
        |execution| execution.follow_ups.reopen_edges = true,
        |execution| execution.dependencies = Some(waiting_dependencies(1)),
        |execution| {
            runnable(execution).block = Some(blocked_by(Cause::Quota(quota_id())));
            execution.hold = Some(held());
        },
        |execution| {
            runnable(execution).block = Some(blocked_by(Cause::Quota(quota_id())));
            runnable(execution).delay = Some(delayed(at(5)));
        },
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let mut execution = one(0, 0, 1);
        change(&mut execution);
        assert_eq!(placement(&execution), Placement::Nowhere, "{index}");
    }
}

#[test]
fn what_waits_for_signals_or_has_ended_is_nowhere() {
    let mut case = Case::new().leased();
    case.suspend();
    assert_eq!(placement(&case.execution()), Placement::Nowhere);
    case.cancel(None).unwrap();
    assert_eq!(placement(&case.execution()), Placement::Nowhere);
}

// Of several reasons the first shows.

#[test]
fn of_several_reasons_the_first_of_hold_dependencies_delay_and_block_shows() {
    use BlockingReason as Reason;
    use EligibilityState as State;
    let mut execution = one(0, 0, 1);
    execution.hold = Some(held());
    execution.dependencies = Some(waiting_dependencies(2));
    runnable(&mut execution).delay = Some(delayed(at(5)));
    runnable(&mut execution).block = Some(blocked_by(Cause::Budget(budget_id(1))));
    let shown = |execution: &Execution, state, reason, public| {
        let vector = state_vector(execution);
        assert_eq!((vector.eligibility_state, vector.blocking_reason), (state, reason));
        assert_eq!((vector.public_state, public_state(execution)), (public, public));
    };
    shown(
        &execution,
        State::BlockedByOperator,
        Reason::PausedByOperator,
        PublicState::Waiting,
    );
    execution.hold = None;
    shown(
        &execution,
        State::BlockedByDependencies,
        Reason::WaitingForChildren,
        PublicState::WaitingChildren,
    );
    execution.dependencies = None;
    shown(
        &execution,
        State::NotEligibleUntilTime,
        Reason::WaitingForDelay,
        PublicState::Delayed,
    );
    runnable(&mut execution).delay = None;
    shown(
        &execution,
        State::BlockedByBudget,
        Reason::WaitingForBudget,
        PublicState::RateLimited,
    );
    runnable(&mut execution).block = None;
    shown(
        &execution,
        State::EligibleNow,
        Reason::WaitingForWorker,
        PublicState::Waiting,
    );
}

#[test]
fn what_is_in_the_way_is_said_in_words() {
    let said = |change: fn(&mut Execution)| {
        let mut execution = one(0, 0, 1);
        change(&mut execution);
        blocking_detail(&execution)
    };
    let delay = |reason| Delay { until: START, reason };
    let words = [
        said(|_| {}),
        said(|execution| execution.hold = Some(held())),
        said(|execution| execution.unopened = true),
        said(|execution| execution.follow_ups.reopen_edges = true),
        said(|execution| execution.dependencies = Some(waiting_dependencies(2))),
        said(|execution| runnable(execution).block = Some(blocked_by(Cause::Quota(quota_id())))),
        said(|execution| runnable(execution).grant = Some(granted(START))),
    ];
    let expected = [
        None,
        Some("held by an operator since 1000000"),
        Some("flow not opened yet"),
        Some("replayed; its descendants are being reopened"),
        Some("waiting for 2 of its dependencies"),
        Some("full"),
        Some("granted to worker until 1000000"),
    ];
    assert_eq!(words.each_ref().map(Option::as_deref), expected);
    for (reason, words) in [
        (DelayReason::Requested, "delayed until 1000000"),
        (DelayReason::RetryBackoff, "retried at 1000000"),
        (DelayReason::ResumeDelay, "resumed, eligible at 1000000"),
    ] {
        let mut execution = one(0, 0, 1);
        runnable(&mut execution).delay = Some(delay(reason));
        assert_eq!(blocking_detail(&execution).as_deref(), Some(words));
    }
}

#[test]
fn the_reason_of_a_hold_is_said_too_and_nothing_of_what_runs_or_has_ended() {
    let mut case = Case::new();
    case.hold();
    let words = blocking_detail(&case.execution());
    assert_eq!(words.as_deref(), Some("held by an operator since 1000000: look first"));
    let mut case = Case::new().leased();
    assert_eq!(blocking_detail(&case.execution()), None);
    case.suspend();
    let words = blocking_detail(&case.execution());
    assert_eq!(words.as_deref(), Some("suspended until its resume condition holds"));
    case.cancel(None).unwrap();
    assert_eq!(blocking_detail(&case.execution()), None);
}

// Blocking and unblocking.

fn refusal(cause: Cause) -> Refusal {
    Refusal {
        cause,
        detail: "budget is spent: tokens 7/5".to_owned(),
        generation: 4,
    }
}

#[test]
fn a_block_says_what_refused_it_under_which_generation_and_since_when() {
    let cause = Cause::Budget(budget_id(1));
    let mut case = Case::with_policy(&json!({"budget_ids": [budget_id(1)]}));
    let claimant = case.grant();
    case.pass(SECOND);
    case.act(|execution, context| block(execution, claimant.grant_id, &refusal(cause), context))
        .unwrap();
    let expected = Block {
        cause,
        detail: refusal(cause).detail,
        generation: 4,
        since: at(1),
    };
    assert_eq!(case.execution().runnable().unwrap().block, Some(expected));
    assert_eq!(case.execution().grant(), None);
    assert_eq!(case.history.last().unwrap().detail, Some(refusal(cause).detail));
}

#[test]
fn only_its_own_cause_lets_a_blocked_execution_go() {
    let cause = Cause::Budget(budget_id(1));
    let mut case = Case::new();
    let blocked = case.act(|execution, context| block_queued(execution, &refusal(cause), context));
    assert_eq!(blocked, Ok(true));
    for other in [Cause::Budget(budget_id(2)), Cause::Quota(quota_id())] {
        let unblocked = case.act(|execution, context| unblock(execution, other, context));
        assert_eq!((unblocked, case.draft.is_empty()), (Ok(false), true));
    }
    assert_eq!(
        case.act(|execution, context| unblock(execution, cause, context)),
        Ok(true)
    );
    assert_eq!(case.happened(), ["blocked", "unblocked"]);
    assert!(matches!(placement(&case.execution()), Placement::Eligible { .. }));
}

#[test]
fn only_what_stands_in_a_queue_is_blocked_there() {
    let cause = Cause::Quota(quota_id());
    let elsewhere: [Move; 3] = [|case| case.hold(), |case| _ = case.grant(), |case| case.lease()];
    for leave in elsewhere {
        let mut case = Case::new();
        leave(&mut case);
        let blocked = case.act(|execution, context| block_queued(execution, &refusal(cause), context));
        assert_eq!((blocked, case.draft.is_empty()), (Ok(false), true));
    }
}

// Timers.

#[test]
fn each_timer_makes_its_record_due() {
    let due = |change: fn(&mut Execution)| {
        let mut execution = one(0, 0, 1);
        change(&mut execution);
        assert_eq!(
            placement::due_at(&Record::from(execution.clone())),
            time::due_at(&execution)
        );
        time::due_at(&execution)
    };
    assert_eq!(due(|_| {}), None);
    assert_eq!(due(|execution| execution.deadline_at = Some(at(3))), Some(at(3)));
    assert_eq!(
        due(|execution| runnable(execution).delay = Some(delayed(at(4)))),
        Some(at(4))
    );
    assert_eq!(
        due(|execution| runnable(execution).grant = Some(granted(at(5)))),
        Some(at(5))
    );
    assert_eq!(due(|execution| execution.follow_ups.resolve_edges = true), Some(START));
    assert_eq!(
        due(|execution| execution.follow_ups.cancel_siblings = true),
        Some(START)
    );
    assert_eq!(due(|execution| execution.follow_ups.reopen_edges = true), Some(START));
}

#[test]
fn whoever_asks_is_told_which_timer_is_due_next() {
    let timer = |execution: &Execution| time::next_timer(execution);
    let mut execution = one(0, 0, 1);
    execution.follow_ups.resolve_edges = true;
    assert_eq!(timer(&execution), None, "what it owes to others is no timer");
    runnable(&mut execution).delay = Some(delayed(at(4)));
    assert_eq!(timer(&execution), Some((at(4), Timer::DelayOver)));
    runnable(&mut execution).grant = Some(granted(at(4)));
    assert_eq!(timer(&execution), Some((at(4), Timer::GrantExpiry)));
    execution.deadline_at = Some(at(4));
    assert_eq!(
        timer(&execution),
        Some((at(4), Timer::Deadline)),
        "the first of a moment"
    );
    let leased = Case::new().leased().execution();
    assert_eq!(timer(&leased), Some((START + LEASE_TTL, Timer::LeaseExpiry)));
    assert!(Timer::ALL.is_sorted());
}

#[test]
fn the_earliest_timer_makes_its_record_due() {
    let mut execution = one(0, 0, 1);
    execution.deadline_at = Some(at(5));
    runnable(&mut execution).grant = Some(granted(at(4)));
    runnable(&mut execution).delay = Some(delayed(at(3)));
    assert_eq!(time::due_at(&execution), Some(at(3)));
    runnable(&mut execution).delay = None;
    assert_eq!(time::due_at(&execution), Some(at(4)));
    runnable(&mut execution).grant = None;
    assert_eq!(time::due_at(&execution), Some(at(5)));
}

#[test]
fn a_lease_is_due_at_its_expiry_its_timeout_its_stop_or_the_deadline() {
    let mut case = Case::new().leased();
    let lease = case.lease_record();
    let mut execution = case.execution();
    assert_eq!(time::due_at(&execution), Some(START + LEASE_TTL));
    let mut due = |change: fn(&mut ff_core::record::Lease)| {
        let mut lease = lease.clone();
        change(&mut lease);
        execution.phase = Phase::Active(lease);
        time::due_at(&execution)
    };
    let stop = |lease: &mut ff_core::record::Lease| {
        lease.stops = vec![stop_at(8)];
    };
    assert_eq!(due(|lease| lease.timeout_at = Some(at(9))), Some(at(9)));
    assert_eq!(due(stop), Some(at(8)));
    let in_grace = |lease: &mut ff_core::record::Lease| {
        lease.timeout_at = Some(at(9));
        lease.reclaim_at = Some(at(90));
    };
    assert_eq!(
        due(in_grace),
        Some(at(90)),
        "an attempt whose lease is lost cannot time out"
    );
    case.suspend();
    assert_eq!(case.due_at(), None);
}

#[test]
fn an_ended_record_is_due_when_its_retention_is_over_and_until_it_is_gone() {
    let mut execution = one(0, 0, 1);
    let outcome = Outcome {
        kind: OutcomeKind::Success,
        at: at(1),
        failure: None,
        reason: None,
        cancel_source: None,
        delete_at: Some(at(9)),
        deleting: false,
    };
    execution.deadline_at = Some(at(2));
    execution.phase = Phase::Terminal(outcome.clone());
    assert_eq!(time::due_at(&execution), Some(at(9)), "no deadline ends it again");
    execution.phase = Phase::Terminal(Outcome {
        deleting: true,
        ..outcome
    });
    assert_eq!(time::due_at(&execution), Some(at(1)));
}

/// A lease whose every timer falls on the tenth second.
fn everything_at_once() -> Execution {
    let case = Case::new().leased();
    let mut execution = case.execution();
    execution.deadline_at = Some(at(10));
    let Phase::Active(lease) = &mut execution.phase else {
        panic!("not leased")
    };
    lease.expires_at = at(10);
    lease.timeout_at = Some(at(10));
    lease.stops = vec![stop_at(10)];
    execution
}

fn stop_at(millis: u64) -> BudgetStop {
    BudgetStop {
        budget_id: BudgetId::from_uuid(Uuid::from_u128(1)),
        generation: 1,
        request: StopRequest {
            reason: "spent".to_owned(),
            cancel_at: at(millis),
        },
    }
}

fn ended(execution: &Execution) -> PublicState {
    let context = ff_core::machine::Context::engine(at(10));
    let decided = time::advance(execution, &context);
    public_state(decided.draft.execution(execution.id).unwrap())
}

#[test]
fn of_timers_that_fall_together_deadline_stop_timeout_and_expiry_win_in_this_order() {
    let mut execution = everything_at_once();
    assert_eq!(ended(&execution), PublicState::Expired);
    execution.deadline_at = None;
    assert_eq!(ended(&execution), PublicState::Cancelled);
    let Phase::Active(lease) = &mut execution.phase else {
        panic!("not leased")
    };
    lease.stops.clear();
    assert_eq!(ended(&execution), PublicState::Failed);
    let Phase::Active(lease) = &mut execution.phase else {
        panic!("not leased")
    };
    lease.timeout_at = None;
    assert_eq!(ended(&execution), PublicState::Waiting);
}

#[test]
fn a_deadline_wins_against_a_grant_and_a_delay_of_the_same_moment() {
    let mut execution = one(0, 0, 1);
    execution.deadline_at = Some(at(10));
    runnable(&mut execution).grant = Some(granted(at(10)));
    runnable(&mut execution).delay = Some(delayed(at(10)));
    assert_eq!(ended(&execution), PublicState::Expired);
    execution.deadline_at = Some(at(11));
    assert_eq!(ended(&execution), PublicState::Waiting);
}

#[test]
fn everything_that_came_due_happens_in_its_order_at_once() {
    let mut case = Case::with_policy(&json!({
        "timeout_policy": {"execution_deadline_ms": 3_600_000},
        "retention_ms": 1000
    }));
    case.lease();
    case.pass_and_pump(HOUR);
    assert_eq!(case.happened(), ["lease_expired", "reclaimable", "expired"]);
    assert_eq!(case.execution().counts.reclaims, 1);
    assert_eq!(case.attempt().kind, AttemptKind::Initial);
    case.pass(SECOND);
    case.pump();
    assert!(case.execution().is_deleting());
    case.pump();
    assert!(
        case.draft.is_empty(),
        "what is being deleted waits for the pump's own hand"
    );
}

#[test]
fn nothing_due_is_nothing_to_write() {
    let mut case = Case::new().leased();
    case.pass(Duration::from_millis(59_999));
    case.pump();
    assert!(case.draft.is_empty());
}

#[test]
fn a_member_that_ends_owes_its_flow_its_edges_and_a_look() {
    let mut case = Case::member().leased();
    case.complete().unwrap();
    let execution = case.execution();
    assert!(execution.follow_ups.resolve_edges);
    assert_eq!(case.due_at(), Some(execution.updated_at));
    let flow: FlowId = execution.definition.flow.unwrap();
    let [nudge] = &case.draft.nudges[..] else {
        panic!("{:?}", case.draft.nudges)
    };
    assert_eq!(nudge.key, ff_core::record::RecordKey::Flow(flow));
    let counter = |counter| CounterKey::Flow(flow, counter);
    assert_eq!(
        nudge.only_at_zero,
        Some(counter(FlowCounter::Open)),
        "only the last one to end"
    );
    let expected = [
        (counter(FlowCounter::State(PublicState::Active)), -1),
        (counter(FlowCounter::Open), -1),
        (counter(FlowCounter::State(PublicState::Completed)), 1),
    ];
    assert_eq!(case.draft.increments, expected);
    let mut solo = Case::new().leased();
    solo.complete().unwrap();
    assert!(!solo.execution().follow_ups.any());
}
