//! replay_execution: what is reset, what stays, and what it does to the members around it.

use ff_core::command::flow::{Assembly, ReplayExecution, Replayed};
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::id::ExecutionId;
use ff_core::machine::replay::{self, Past};
use ff_core::machine::submit::{self, Known};
use ff_core::machine::{Context, Decided, group, lease, operator};
use ff_core::name::RequestId;
use ff_core::policy::{Policy, TimeoutPolicy};
use ff_core::record::{AttemptKind, CancelFlowPolicy, EdgeGroupPolicy, EdgeState, OnSatisfied, RecordKey};
use ff_core::state::{AttemptState, PublicState, state_vector};
use ff_core::time::Duration;

use crate::flows::store::{FLOW, Store, Transaction};
use crate::flows::work::{Progress, Work};
use crate::flows::{End, id, refusal, submission};

const ANY_OF: EdgeGroupPolicy = EdgeGroupPolicy::AnyOf {
    on_satisfied: OnSatisfied::LetRun,
};

fn edge_state(store: &Store, upstream: u128, downstream: u128) -> EdgeState {
    let edges = store.edges_from(id(upstream));
    edges
        .iter()
        .find(|edge| edge.downstream == id(downstream))
        .unwrap()
        .state
}

#[test]
fn a_replayed_execution_starts_a_new_attempt_with_its_counts_reset() {
    let mut store = Store::started(Assembly::Open);
    let member = store.add(1, &[]);
    store.run(member, End::Badly);
    store.replay(member);
    let replayed = store.execution(member);
    assert_eq!(store.state(member), PublicState::Waiting);
    assert_eq!(
        state_vector(&replayed).attempt_state,
        AttemptState::PendingReplayAttempt
    );
    assert_eq!(replayed.counts.replays, 1);
    assert_eq!(replayed.runnable().unwrap().next_claim.kind, AttemptKind::Replay);
    assert!(store.has(&RecordKey::Attempt(member, 0)));
    assert_eq!(replayed.lease_epoch, 1);
    store.run(member, End::Well);
    assert_eq!(store.execution(member).attempt.unwrap().index, 1);
    assert_eq!(store.execution(member).lease_epoch, 2);
}

#[test]
fn an_attempt_that_was_archived_before_the_end_is_not_archived_twice() {
    let mut store = Store::started(Assembly::Open);
    let member = store.add(1, &[]);
    store.run(member, End::Badly);
    store.replay(member);
    let decided = store.cancelled(member).unwrap();
    store.land(decided);
    store.pump();
    store.replay(member);
    assert!(store.is_queued(member));
}

#[test]
fn a_repeated_request_replays_once() {
    let mut store = Store::started(Assembly::Open);
    let member = store.add(1, &[]);
    store.run(member, End::Badly);
    let command = ReplayExecution {
        request_id: Some(RequestId::parse("once").unwrap()),
        ..ReplayExecution::default()
    };
    let decided = store.replayed(member, &command).unwrap();
    assert_eq!(store.land(decided), Replayed::Now);
    assert_eq!(store.replayed(member, &command).unwrap().outcome, Replayed::Already);
    assert_eq!(
        refusal(store.replayed(member, &ReplayExecution::default())),
        Code::ExecutionNotTerminal
    );
}

#[test]
fn replays_are_limited_by_the_policy() {
    let mut store = Store::started(Assembly::Open);
    let policy = Policy {
        max_replay_count: Some(1),
        ..Policy::default()
    };
    let decided = store
        .submitted(id(1), &CreateExecution { policy, ..submission() })
        .unwrap();
    store.land(decided);
    store.run(id(1), End::Badly);
    store.replay(id(1));
    store.run(id(1), End::Badly);
    assert_eq!(
        refusal(store.replayed(id(1), &ReplayExecution::default())),
        Code::MaxReplaysExhausted
    );
}

#[test]
fn a_member_of_a_sealed_or_cancelled_flow_cannot_be_replayed() {
    for policy in [CancelFlowPolicy::FlowOnly, CancelFlowPolicy::CancelAll] {
        let mut store = Store::started(Assembly::Open);
        let member = store.add(1, &[]);
        store.add(2, &[]);
        store.run(member, End::Badly);
        let decided = store.flow_cancelled(policy).unwrap();
        store.land(decided);
        store.pump();
        assert_eq!(
            refusal(store.replayed(member, &ReplayExecution::default())),
            Code::FlowAlreadyTerminal
        );
    }
}

/// Submits a solo execution, cancels it and replays it an hour later.
fn replayed_after_an_hour(command: &CreateExecution) -> ff_core::record::Execution {
    let mut store = Store::started(Assembly::Open);
    let context = |store: &Store| Context {
        gate: None,
        ..store.context()
    };
    let command = CreateExecution {
        flow_id: None,
        ..command.clone()
    };
    let decided = submit::create(&command, id(1), Known::default(), &context(&store)).unwrap();
    store.land(decided);
    let unwanted = ff_core::command::operator::CancelExecution {
        reason: "no".to_owned(),
        fence: None,
    };
    let decided = operator::cancel(&store.execution(id(1)), &unwanted, &context(&store)).unwrap();
    store.land(decided);
    store.wait(Duration::from_hours(1));
    let past = Past {
        archived: false,
        has_failed_edges: false,
        steps: Vec::new(),
    };
    let decided = replay::replay(
        &store.execution(id(1)),
        &ReplayExecution::default(),
        &past,
        &context(&store),
    )
    .unwrap();
    store.land(decided);
    store.execution(id(1))
}

#[test]
fn a_relative_deadline_restarts_and_a_past_given_one_is_dropped() {
    let relative = Policy {
        timeout_policy: Some(TimeoutPolicy {
            execution_deadline: Some(Duration::from_hours(3)),
            attempt_timeout: None,
        }),
        ..Policy::default()
    };
    let now = Store::started(Assembly::Open).now;
    let later = now + Duration::from_hours(1);

    let replayed = replayed_after_an_hour(&CreateExecution {
        policy: relative.clone(),
        ..submission()
    });
    assert_eq!(replayed.deadline_at, Some(later + Duration::from_hours(3)));
    let short = CreateExecution {
        execution_deadline_at: Some(now + Duration::from_secs(60)),
        ..submission()
    };
    assert_eq!(replayed_after_an_hour(&short).deadline_at, None);
    // The relative one hid it when the execution was submitted; now it comes first.
    let hidden = now + Duration::from_millis(3_500 * 3_600);
    let both = CreateExecution {
        policy: relative,
        execution_deadline_at: Some(hidden),
        ..submission()
    };
    assert_eq!(replayed_after_an_hour(&both).deadline_at, Some(hidden));
    let given = Some(now + Duration::from_hours(5));
    let ahead = CreateExecution {
        execution_deadline_at: given,
        ..submission()
    };
    assert_eq!(replayed_after_an_hour(&ahead).deadline_at, given);
}

#[test]
fn a_solo_execution_that_was_replayed_is_kept_from_its_new_end() {
    let replayed = replayed_after_an_hour(&submission());
    assert!(replayed.outcome().is_none());
    assert!(!replayed.follow_ups.any());
}

#[test]
fn descendants_skipped_because_of_it_reopen_with_it() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    let (child, grandchild) = (store.add(2, &[1]), store.add(3, &[2]));
    store.run(root, End::Badly);
    assert_eq!(store.state(grandchild), PublicState::Skipped);
    store.replay(root);
    assert!(store.is_queued(root));
    assert_eq!(store.state(child), PublicState::WaitingChildren);
    assert_eq!(store.state(grandchild), PublicState::WaitingChildren);
    for member in [root, child, grandchild] {
        store.run(member, End::Well);
    }
    assert_eq!(store.state(grandchild), PublicState::Completed);
}

#[test]
fn it_may_not_be_claimed_before_its_descendants_are_reopened() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    store.add(2, &[1]);
    store.run(root, End::Badly);
    let decided = store.replayed(root, &ReplayExecution::default()).unwrap();
    store.land(decided);
    assert!(!store.is_queued(root));
    store.pump();
    assert!(store.is_queued(root));
}

#[test]
fn satisfied_edges_and_children_that_ran_are_left_alone() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    let child = store.add(2, &[1]);
    store.run(root, End::Well);
    store.run(child, End::Well);
    store.replay(root);
    assert_eq!(edge_state(&store, 1, 2), EdgeState::Satisfied);
    assert_eq!(store.state(child), PublicState::Completed);
    store.run(root, End::Badly);
    assert_eq!(edge_state(&store, 1, 2), EdgeState::Satisfied);
}

#[test]
fn a_child_still_impossible_through_another_upstream_stays_skipped_until_that_one_is_replayed_too() {
    let mut store = Store::started(Assembly::Open);
    let (first, second) = (store.add(1, &[]), store.add(2, &[]));
    let child = store.add(3, &[1, 2]);
    store.run(first, End::Badly);
    store.run(second, End::Badly);
    store.replay(first);
    assert_eq!(store.state(child), PublicState::Skipped);
    store.run(first, End::Well);
    assert_eq!(store.state(child), PublicState::Skipped);
    store.replay(second);
    assert_eq!(store.state(child), PublicState::WaitingChildren);
    store.run(second, End::Well);
    assert!(store.is_queued(child));
}

#[test]
fn two_upstreams_replayed_at_once_do_not_both_leave_their_child_skipped() {
    let mut store = Store::started(Assembly::Open);
    let (first, second) = (store.add(1, &[]), store.add(2, &[]));
    let child = store.add(3, &[1, 2]);
    store.run(first, End::Badly);
    store.run(second, End::Badly);
    for member in [first, second] {
        let decided = store.replayed(member, &ReplayExecution::default()).unwrap();
        store.land(decided);
    }
    let before = store.clone();
    let progress = Progress::new(64);
    let late = progress.page(&before, &Work::Reopen(second)).draft;
    let draft = progress.page(&store, &Work::Reopen(first)).draft;
    store.commit(Transaction::of(draft, before.clone())).unwrap();
    assert_eq!(
        store.commit(Transaction::of(late, before)),
        Err(RecordKey::Execution(child))
    );
    store.pump();
    assert_eq!(store.state(child), PublicState::WaitingChildren);
}

#[test]
fn a_replayed_skipped_member_waits_until_its_failed_upstream_is_replayed() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    let child = store.add(2, &[1]);
    store.run(root, End::Badly);
    store.replay(child);
    assert_eq!(store.state(child), PublicState::WaitingChildren);
    assert_eq!(edge_state(&store, 1, 2), EdgeState::Unresolved);
    store.replay(root);
    store.run(root, End::Well);
    assert!(store.is_queued(child));
}

#[test]
fn a_group_that_can_still_be_satisfied_reopens_with_one_of_its_upstreams() {
    let mut store = Store::started(Assembly::Open);
    let (first, second) = (store.add(1, &[]), store.add(2, &[]));
    let child = store.add_joining(3, &[1, 2], ANY_OF);
    store.run(first, End::Badly);
    store.run(second, End::Badly);
    assert_eq!(store.state(child), PublicState::Skipped);
    store.replay(first);
    assert_eq!(store.state(child), PublicState::WaitingChildren);
    assert_eq!(edge_state(&store, 2, 3), EdgeState::Failed);
    store.run(first, End::Badly);
    assert_eq!(store.state(child), PublicState::Skipped);
}

#[test]
fn a_waiting_child_gets_a_second_chance_from_a_replayed_upstream() {
    let mut store = Store::started(Assembly::Open);
    let (first, second) = (store.add(1, &[]), store.add(2, &[]));
    let child = store.add_joining(3, &[1, 2], ANY_OF);
    store.run(first, End::Badly);
    store.replay(first);
    assert_eq!(edge_state(&store, 1, 3), EdgeState::Unresolved);
    store.run(second, End::Badly);
    assert_eq!(store.state(child), PublicState::WaitingChildren);
    store.run(first, End::Well);
    assert!(store.is_queued(child));
}

#[test]
fn an_end_that_is_still_being_resolved_when_it_is_replayed_counts_for_nobody_else() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    let (told, untold) = (store.add(2, &[1]), store.add(3, &[1]));
    assert!(store.claim(root, 1));
    let decided = store.ended(root, End::Badly).unwrap();
    store.land(decided);
    let edges: Vec<_> = store
        .edges_from(root)
        .into_iter()
        .filter(|edge| edge.downstream == told)
        .collect();
    let decided = group::resolve_edges(&store.execution(root), &edges, false, &store.context());
    store.land(decided);
    store.replay(root);
    assert!(!store.execution(root).follow_ups.resolve_edges);
    for child in [told, untold] {
        assert_eq!(store.state(child), PublicState::WaitingChildren);
    }
    store.run(root, End::Well);
    assert!(store.is_queued(told) && store.is_queued(untold));
}

#[test]
fn the_flow_is_running_again() {
    let mut store = Store::started(Assembly::Open);
    let member = store.add(1, &[]);
    store.run(member, End::Well);
    assert!(store.flow().unwrap().ended_at.is_some());
    store.replay(member);
    assert_eq!(store.flow().unwrap().ended_at, None);
}

#[test]
fn a_call_under_the_old_lease_still_learns_how_it_ended() {
    let mut store = Store::started(Assembly::Open);
    let member: ExecutionId = store.add(1, &[]);
    assert!(store.claim(member, 1));
    let fence = store.fence(member);
    let decided = store.ended(member, End::Well).unwrap();
    store.land(decided);
    store.pump();
    store.replay(member);
    let command = ff_core::command::lease::Complete {
        fence,
        result: None,
        ..Default::default()
    };
    let again = lease::complete(&store.execution(member), &command, &store.context()).unwrap();
    assert_eq!(again.outcome, ff_core::command::lease::Completed::Already);
}

/// A root that has ended badly, with the edge to its first child resolved and the one to its second still to come.
fn half_resolved() -> (Store, ExecutionId, ExecutionId) {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    let child = store.add(2, &[1]);
    store.add(3, &[1]);
    assert!(store.claim(root, 1));
    let decided = store.ended(root, End::Badly).unwrap();
    store.land(decided);
    let edges: Vec<_> = store
        .edges_from(root)
        .into_iter()
        .filter(|edge| edge.downstream == child)
        .collect();
    let decided = group::resolve_edges(&store.execution(root), &edges, false, &store.context());
    store.land(decided);
    let decided = group::evaluate(&store.execution(child), &store.group_counts(child), &store.context());
    store.land(decided);
    assert_eq!(store.state(child), PublicState::Skipped);
    (store, root, child)
}

#[test]
fn a_page_of_an_end_that_was_replayed_away_does_not_land() {
    let (mut store, root, _) = half_resolved();
    let before = store.clone();
    let late = group::resolve_edges(
        &before.execution(root),
        &before.edges_from(root),
        false,
        &before.context(),
    );
    let decided = store.replayed(root, &ReplayExecution::default()).unwrap();
    store.land(decided);
    assert_eq!(
        store.commit(Transaction::of(late.draft, before)),
        Err(RecordKey::Execution(root))
    );
}

#[test]
fn edges_of_an_upstream_that_still_resolves_them_are_reopened_afterwards() {
    let (mut store, root, child) = half_resolved();
    let decided = store.replayed(child, &ReplayExecution::default()).unwrap();
    store.land(decided);
    let early = Progress::new(64).page(&store, &Work::Reopen(child));
    assert!(early.draft.writes.is_empty(), "{:?}", early.draft.writes);
    let decided = group::resolve_edges(&store.execution(root), &store.edges_from(root), true, &store.context());
    store.land(decided);
    store.pump();
    assert_eq!(edge_state(&store, 1, 2), EdgeState::Unresolved);
    assert_eq!(store.state(child), PublicState::WaitingChildren);
}

#[test]
fn an_inbound_edge_is_not_reopened_from_what_its_upstream_was_before() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    let child = store.add(2, &[1]);
    store.run(root, End::Badly);
    let decided = store.replayed(child, &ReplayExecution::default()).unwrap();
    store.land(decided);
    let before = store.clone();
    let late = Progress::new(64).page(&before, &Work::Reopen(child)).draft;
    let decided = store.replayed(root, &ReplayExecution::default()).unwrap();
    store.land(decided);
    assert_eq!(
        store.commit(Transaction::of(late, before)),
        Err(RecordKey::Execution(root))
    );
}

#[test]
fn a_replay_does_not_land_behind_a_gate_that_closed_meanwhile() {
    let mut store = Store::started(Assembly::Open);
    let member = store.add(1, &[]);
    store.add(2, &[]);
    store.run(member, End::Badly);
    let before = store.clone();
    let late = before.replayed(member, &ReplayExecution::default()).unwrap();
    let decided = store.flow_cancelled(CancelFlowPolicy::CancelAll).unwrap();
    store.land(decided);
    assert_eq!(
        store.commit(Transaction::of(late.draft, before)),
        Err(RecordKey::Gate(FLOW))
    );
}

#[test]
fn a_replayed_member_is_decided_only_once_its_edges_are_reopened() {
    let mut store = Store::started(Assembly::Open);
    let (failed, succeeded) = (store.add(1, &[]), store.add(2, &[]));
    let child = store.add_joining(3, &[1, 2], ANY_OF);
    let skipped = store.add(4, &[1]);
    store.run(failed, End::Badly);
    store.run(succeeded, End::Well);
    let decided = store.cancelled(child).unwrap();
    store.land(decided);
    store.pump();
    for member in [child, skipped] {
        let decided = store.replayed(member, &ReplayExecution::default()).unwrap();
        store.land(decided);
        let nudge = Work::Evaluate(RecordKey::Execution(member));
        let early = Progress::new(64).page(&store, &nudge).draft;
        assert!(early.is_empty(), "{early:?}");
        let answered = Transaction {
            draft: early,
            from: store.clone(),
            answers: nudge.answers(),
        };
        store.commit(answered).unwrap();
    }
    store.pump();
    assert!(store.is_queued(child));
    assert_eq!(store.state(skipped), PublicState::WaitingChildren);
}

#[test]
fn nobody_is_reopened_behind_a_cancelled_gate() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    let child = store.add(2, &[1]);
    store.run(root, End::Badly);
    let decided = store.replayed(root, &ReplayExecution::default()).unwrap();
    store.land(decided);
    let before = store.clone();
    let late = Progress::new(64).page(&before, &Work::Reopen(root)).draft;
    let decided = store.flow_cancelled(CancelFlowPolicy::CancelAll).unwrap();
    store.land(decided);
    assert_eq!(store.commit(Transaction::of(late, before)), Err(RecordKey::Gate(FLOW)));
    let page = Progress::new(64).page(&store, &Work::Reopen(root)).draft;
    store.land(Decided {
        outcome: (),
        draft: page,
    });
    assert_eq!(store.state(root), PublicState::Cancelled);
    assert_eq!(store.state(child), PublicState::Skipped);
}
