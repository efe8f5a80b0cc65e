//! Edge groups: what their counters say, and what the end of an upstream does to its children.

use ff_core::command::flow::{Assembly, SetEdgeGroupPolicy, StageDependencyEdge, WaitedChildren};
use ff_core::command::operator::Changed;
use ff_core::command::submit::{CreateExecution, DependsOn};
use ff_core::error::Code;
use ff_core::machine::group::{self, Counts, Evaluated, Verdict, verdict};
use ff_core::record::{
    CancelFlowPolicy, CounterKey, DependencyKind, EdgeGroupPolicy, GroupCounter, LeaseEnd, OnSatisfied, OutcomeKind,
    RecordKey,
};
use ff_core::state::PublicState;

use crate::flows::store::{FLOW, Store, Transaction};
use crate::flows::{End, id, on, refusal, submission};

const LET_RUN: EdgeGroupPolicy = EdgeGroupPolicy::AnyOf {
    on_satisfied: OnSatisfied::LetRun,
};
const CANCEL: EdgeGroupPolicy = EdgeGroupPolicy::AnyOf {
    on_satisfied: OnSatisfied::CancelRemaining,
};

fn counts(applied: u64, satisfied: u64, failed: u64) -> Counts {
    Counts {
        applied,
        satisfied,
        failed,
        unresolved: applied - satisfied - failed,
    }
}

fn stage(upstream: u128, downstream: u128) -> StageDependencyEdge {
    StageDependencyEdge {
        edge_id: None,
        upstream: id(upstream),
        downstream: id(downstream),
        dependency_kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
        expected_graph_revision: None,
        apply: true,
    }
}

#[test]
fn all_of_needs_every_upstream_and_gives_up_at_the_first_failure() {
    let policy = EdgeGroupPolicy::AllOf;
    assert_eq!(verdict(policy, &counts(3, 2, 0)), Verdict::Undecided);
    assert_eq!(verdict(policy, &counts(3, 3, 0)), Verdict::Satisfied);
    assert_eq!(verdict(policy, &counts(3, 0, 1)), Verdict::Impossible);
}

#[test]
fn a_quorum_needs_k_and_gives_up_when_k_can_no_longer_be_reached() {
    let policy = EdgeGroupPolicy::Quorum {
        k: 2,
        on_satisfied: OnSatisfied::LetRun,
    };
    assert_eq!(verdict(policy, &counts(4, 1, 2)), Verdict::Undecided);
    assert_eq!(verdict(policy, &counts(4, 2, 2)), Verdict::Satisfied);
    assert_eq!(verdict(policy, &counts(4, 1, 3)), Verdict::Impossible);
}

#[test]
fn a_group_without_edges_is_satisfied_and_one_smaller_than_its_quorum_waits_for_more() {
    let policy = EdgeGroupPolicy::Quorum {
        k: 2,
        on_satisfied: OnSatisfied::LetRun,
    };
    assert_eq!(verdict(policy, &counts(0, 0, 0)), Verdict::Satisfied);
    assert_eq!(verdict(policy, &counts(1, 1, 0)), Verdict::Undecided);
    assert_eq!(verdict(policy, &counts(1, 0, 1)), Verdict::Impossible);
}

#[test]
fn a_child_runs_once_its_last_upstream_has_succeeded() {
    let mut store = Store::started(Assembly::Open);
    let (first, second) = (store.add(1, &[]), store.add(2, &[]));
    let child = store.add(3, &[1, 2]);
    store.run(first, End::Well);
    assert_eq!(store.state(child), PublicState::WaitingChildren);
    store.run(second, End::Well);
    assert!(store.is_queued(child));
}

#[test]
fn a_child_that_never_ran_is_skipped_and_so_is_what_follows_it() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    let (child, grandchild) = (store.add(2, &[1]), store.add(3, &[2]));
    store.run(root, End::Badly);
    assert_eq!(store.state(child), PublicState::Skipped);
    assert_eq!(store.state(grandchild), PublicState::Skipped);
}

#[test]
fn any_end_of_the_upstream_satisfies_an_any_terminal_edge() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    let cleanup = DependsOn {
        dependency_kind: DependencyKind::AnyTerminal,
        ..on(root)
    };
    let command = CreateExecution {
        depends_on: vec![cleanup],
        ..submission()
    };
    let decided = store.submitted(id(2), &command).unwrap();
    store.land(decided);
    store.run(root, End::Badly);
    assert!(store.is_queued(id(2)));
}

#[test]
fn the_child_of_an_all_of_join_is_nudged_only_by_the_last_success_or_by_a_failure() {
    let mut store = Store::started(Assembly::Open);
    let (first, second) = (store.add(1, &[]), store.add(2, &[]));
    let child = store.add(3, &[1, 2]);
    assert!(store.claim(first, 1));
    let decided = store.ended(first, End::Well).unwrap();
    store.land(decided);
    let decided = group::resolve_edges(
        &store.execution(first),
        &store.edges_from(first),
        true,
        &store.context(),
    );
    store.land(decided);
    assert!(!store.nudged().any(|key| *key == RecordKey::Execution(child)));
    assert!(store.claim(second, 2));
    let decided = store.ended(second, End::Badly).unwrap();
    store.land(decided);
    let decided = group::resolve_edges(
        &store.execution(second),
        &store.edges_from(second),
        true,
        &store.context(),
    );
    store.land(decided);
    assert!(store.nudged().any(|key| *key == RecordKey::Execution(child)));
}

#[test]
fn an_upstream_resolves_its_edges_in_pages_and_each_edge_once() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    for child in 2..5 {
        store.add(child, &[1]);
    }
    assert!(store.claim(root, 1));
    let decided = store.ended(root, End::Well).unwrap();
    store.land(decided);
    let edges = store.edges_from(root);
    let decided = group::resolve_edges(&store.execution(root), &edges[..2], false, &store.context());
    store.land(decided);
    assert!(store.execution(root).follow_ups.resolve_edges);
    let decided = group::resolve_edges(&store.execution(root), &store.edges_from(root), true, &store.context());
    store.land(decided);
    assert!(!store.execution(root).follow_ups.resolve_edges);
    store.assert_counters();
}

#[test]
fn an_upstream_a_child_and_the_edge_between_them_can_end_in_one_transaction() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    let child = store.add(2, &[1]);
    assert!(store.claim(root, 1));
    let mut decided = store.ended(root, End::Well).unwrap();
    group::resolve_at_once(&mut decided.draft, root, &store.edges_from(root));
    let counts = store.group_counts(child);
    let evaluated = group::evaluate_at_once(&mut decided.draft, &store.execution(child), &counts, &store.context());
    assert_eq!(evaluated, Evaluated::Satisfied);
    store.land(decided);
    assert!(store.is_queued(child));
    assert!(store.owed().is_empty(), "{:?}", store.owed());
    store.assert_counters();
}

#[test]
fn ending_in_one_transaction_conflicts_with_an_edge_staged_meanwhile() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    store.add(2, &[]);
    assert!(store.claim(root, 1));
    let before = store.clone();
    let mut decided = before.ended(root, End::Well).unwrap();
    group::resolve_at_once(&mut decided.draft, root, &before.edges_from(root));
    let staged = store.staged(&stage(1, 2)).unwrap();
    store.land(staged);
    assert!(store.commit(Transaction::of(decided.draft, before)).is_err());
}

#[test]
fn an_edge_from_an_upstream_that_ends_meanwhile_is_not_applied_as_unresolved() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    store.add(2, &[]);
    assert!(store.claim(root, 1));
    let before = store.clone();
    let staged = before.staged(&stage(1, 2)).unwrap();
    let decided = store.ended(root, End::Well).unwrap();
    store.land(decided);
    assert_eq!(
        store.commit(Transaction::of(staged.draft, before)),
        Err(RecordKey::Execution(root))
    );
}

#[test]
fn a_verdict_computed_before_an_edge_was_applied_does_not_land_after_it() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    store.add(2, &[]);
    let child = store.add(3, &[1]);
    assert!(store.claim(root, 1));
    let decided = store.ended(root, End::Well).unwrap();
    store.land(decided);
    let decided = group::resolve_edges(&store.execution(root), &store.edges_from(root), true, &store.context());
    store.land(decided);
    let before = store.clone();
    let verdict = group::evaluate(&before.execution(child), &before.group_counts(child), &before.context());
    assert_eq!(verdict.outcome, Evaluated::Satisfied);
    let staged = store.staged(&stage(2, 3)).unwrap();
    store.land(staged);
    assert_eq!(
        store.commit(Transaction::of(verdict.draft, before)),
        Err(RecordKey::Execution(child))
    );
}

#[test]
fn cancel_remaining_cancels_siblings_that_feed_no_other_child_that_waits() {
    let mut store = Store::started(Assembly::Open);
    let (first, alone, shared) = (store.add(1, &[]), store.add(2, &[]), store.add(3, &[]));
    let child = store.add_joining(4, &[1, 2, 3], CANCEL);
    store.add(5, &[3]);
    store.run(first, End::Well);
    assert!(store.is_queued(child));
    assert_eq!(store.state(alone), PublicState::Cancelled);
    assert!(store.is_queued(shared));
}

#[test]
fn let_run_leaves_the_siblings_alone() {
    let mut store = Store::started(Assembly::Open);
    let (first, second) = (store.add(1, &[]), store.add(2, &[]));
    store.add_joining(3, &[1, 2], LET_RUN);
    store.run(first, End::Well);
    assert!(store.is_queued(second));
}

#[test]
fn a_group_that_becomes_impossible_cancels_its_remaining_siblings_too() {
    let mut store = Store::started(Assembly::Open);
    let (first, second, third) = (store.add(1, &[]), store.add(2, &[]), store.add(3, &[]));
    let policy = EdgeGroupPolicy::Quorum {
        k: 2,
        on_satisfied: OnSatisfied::CancelRemaining,
    };
    let child = store.add_joining(4, &[1, 2, 3], policy);
    store.run(first, End::Badly);
    store.run(second, End::Badly);
    assert_eq!(store.state(child), PublicState::Skipped);
    assert_eq!(store.state(third), PublicState::Cancelled);
}

#[test]
fn a_sibling_is_not_cancelled_once_somebody_else_depends_on_it() {
    let mut store = Store::started(Assembly::Open);
    let first = store.add(1, &[]);
    let sibling = store.add(2, &[]);
    let child = store.add_joining(3, &[1, 2], CANCEL);
    store.add(4, &[]);
    assert!(store.claim(first, 1));
    let decided = store.ended(first, End::Well).unwrap();
    store.land(decided);
    let decided = group::resolve_edges(
        &store.execution(first),
        &store.edges_from(first),
        true,
        &store.context(),
    );
    store.land(decided);
    let decided = group::evaluate(&store.execution(child), &store.group_counts(child), &store.context());
    store.land(decided);
    let before = store.clone();
    let siblings = [group::Sibling {
        upstream: &before.execution(sibling),
        needed: false,
    }];
    let cancel = group::cancel_siblings(&before.execution(child), &siblings, true, &before.context());
    let staged = store.staged(&stage(2, 4)).unwrap();
    store.land(staged);
    assert!(store.commit(Transaction::of(cancel.draft, before)).is_err());
}

#[test]
fn the_policy_is_fixed_once_an_edge_was_applied() {
    let mut store = Store::started(Assembly::Open);
    store.add(1, &[]);
    let (free, bound) = (store.add(2, &[]), store.add(3, &[1]));
    let command = |execution_id| SetEdgeGroupPolicy {
        execution_id,
        policy: LET_RUN,
    };
    let flow = store.flow().unwrap().id;
    let set =
        |store: &Store, child| group::set_policy(&store.execution(child), flow, &command(child), &store.context());
    assert_eq!(set(&store, free).unwrap().outcome, Changed::Now);
    assert_eq!(refusal(set(&store, bound)), Code::GroupPolicyFixed);
    let nobody = SetEdgeGroupPolicy {
        execution_id: free,
        policy: EdgeGroupPolicy::Quorum {
            k: 0,
            on_satisfied: OnSatisfied::LetRun,
        },
    };
    assert_eq!(
        refusal(group::set_policy(
            &store.execution(free),
            flow,
            &nobody,
            &store.context()
        )),
        Code::InvalidInput
    );
}

#[test]
fn nothing_is_decided_before_the_flow_is_open() {
    let mut store = Store::started(Assembly::Assembling);
    let root = store.add(1, &[]);
    let child = store.add(2, &[1]);
    let decided = store.cancelled(root).unwrap();
    store.land(decided);
    store.pump();
    assert_eq!(store.state(child), PublicState::WaitingChildren);
    let decided = store.about_flow(ff_core::machine::flow::open).unwrap();
    store.land(decided);
    store.pump();
    assert_eq!(store.state(child), PublicState::Skipped);
}

#[test]
fn waiting_for_children_keeps_the_lease_when_nothing_is_missing() {
    let mut store = Store::started(Assembly::Open);
    let member = store.add(1, &[]);
    assert!(store.claim(member, 1));
    let decided = store.waited(member, store.fence(member)).unwrap();
    assert_eq!(store.land(decided), WaitedChildren::AlreadySatisfied);
    assert_eq!(store.state(member), PublicState::Active);
}

#[test]
fn a_worker_that_waits_for_its_children_goes_on_with_the_same_attempt() {
    let mut store = Store::started(Assembly::Open);
    let (parent, child) = (store.add(1, &[]), store.add(2, &[]));
    assert!(store.claim(parent, 1));
    let staged = store.staged(&stage(2, 1)).unwrap();
    store.land(staged);
    let fence = store.fence(parent);
    let decided = store.waited(parent, fence).unwrap();
    assert_eq!(store.land(decided), WaitedChildren::Waiting);
    assert_eq!(store.waited(parent, fence).unwrap().outcome, WaitedChildren::Waiting);
    store.pump();
    assert_eq!(store.state(parent), PublicState::WaitingChildren);
    store.run(child, End::Well);
    assert!(store.claim(parent, 2));
    assert_eq!(store.execution(parent).attempt.unwrap().index, 0);
}

#[test]
fn an_upstream_that_ends_while_its_child_starts_to_wait_is_not_missed() {
    let mut store = Store::started(Assembly::Open);
    let (parent, child) = (store.add(1, &[]), store.add(2, &[]));
    assert!(store.claim(parent, 1));
    let staged = store.staged(&stage(2, 1)).unwrap();
    store.land(staged);
    let before = store.clone();
    let wait = before.waited(parent, before.fence(parent)).unwrap();
    store.run(child, End::Well);
    store.commit(Transaction::of(wait.draft, before)).unwrap();
    store.pump();
    assert!(store.is_queued(parent));
}

#[test]
fn waiting_for_what_can_no_longer_hold_fails_for_good() {
    let mut store = Store::started(Assembly::Open);
    let (parent, child) = (store.add(1, &[]), store.add(2, &[]));
    assert!(store.claim(parent, 1));
    let staged = store.staged(&stage(2, 1)).unwrap();
    store.land(staged);
    store.run(child, End::Badly);
    assert_eq!(store.state(parent), PublicState::Active);
    let fence = store.fence(parent);
    let decided = store.waited(parent, fence).unwrap();
    assert_eq!(store.land(decided), WaitedChildren::DependencyImpossible);
    let ended = store.execution(parent);
    assert_eq!(ended.outcome().unwrap().kind, OutcomeKind::Failed);
    assert_eq!(ended.ended_lease.unwrap().end, LeaseEnd::DependencyImpossible);
    assert_eq!(
        store.waited(parent, fence).unwrap().outcome,
        WaitedChildren::DependencyImpossible
    );
}

#[test]
fn a_running_child_does_not_move_when_an_edge_is_applied_to_it() {
    let mut store = Store::started(Assembly::Open);
    let child = store.add(1, &[]);
    store.add(2, &[]);
    assert!(store.claim(child, 1));
    let staged = store.staged(&stage(2, 1)).unwrap();
    store.land(staged);
    store.pump();
    assert_eq!(store.state(child), PublicState::Active);
    assert_eq!(store.counter(CounterKey::Group(child, GroupCounter::Unresolved)), 1);
    let decided = store.released(child).unwrap();
    store.land(decided);
    store.pump();
    assert!(store.is_queued(child));
}

#[test]
fn an_upstream_that_ends_while_another_edge_is_applied_is_not_missed() {
    let mut store = Store::started(Assembly::Open);
    let (child, upstream) = (store.add(1, &[]), store.add(2, &[]));
    let ended = store.add(3, &[]);
    store.run(ended, End::Well);
    assert!(store.claim(child, 1));
    let staged = store.staged(&stage(2, 1)).unwrap();
    store.land(staged);
    let decided = store.released(child).unwrap();
    store.land(decided);
    store.pump();
    let before = store.clone();
    let apply = before.staged(&stage(3, 1)).unwrap();
    store.run(upstream, End::Well);
    store.commit(Transaction::of(apply.draft, before)).unwrap();
    assert_eq!(store.state(child), PublicState::WaitingChildren);
    store.pump();
    assert!(store.is_queued(child));
}

#[test]
fn a_verdict_of_impossible_does_not_land_after_the_edge_that_makes_it_wrong() {
    let mut store = Store::started(Assembly::Open);
    for upstream in 1..4 {
        store.add(upstream, &[]);
    }
    let policy = EdgeGroupPolicy::Quorum {
        k: 2,
        on_satisfied: OnSatisfied::LetRun,
    };
    let child = store.add_joining(4, &[1, 2], policy);
    store.run(id(3), End::Well);
    let unapplied = StageDependencyEdge {
        apply: false,
        ..stage(3, 4)
    };
    let decided = store.staged(&unapplied).unwrap();
    let edge = store.land(decided).edge_id;
    assert!(store.claim(id(2), 1));
    let decided = store.ended(id(2), End::Badly).unwrap();
    store.land(decided);
    let decided = group::resolve_edges(
        &store.execution(id(2)),
        &store.edges_from(id(2)),
        true,
        &store.context(),
    );
    store.land(decided);
    let before = store.clone();
    let verdict = group::evaluate(&before.execution(child), &before.group_counts(child), &before.context());
    assert_eq!(verdict.outcome, Evaluated::Impossible);
    let decided = store.applied(edge).unwrap();
    store.land(decided);
    assert_eq!(
        store.commit(Transaction::of(verdict.draft, before)),
        Err(RecordKey::Execution(child))
    );
    store.pump();
    assert_eq!(store.state(child), PublicState::WaitingChildren);
    store.run(id(1), End::Well);
    assert!(store.is_queued(child));
}

#[test]
fn a_child_is_not_released_behind_a_gate_that_closed_meanwhile() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    let child = store.add(2, &[1]);
    assert!(store.claim(root, 1));
    let decided = store.ended(root, End::Well).unwrap();
    store.land(decided);
    let decided = group::resolve_edges(&store.execution(root), &store.edges_from(root), true, &store.context());
    store.land(decided);
    let before = store.clone();
    let late = group::evaluate(&before.execution(child), &before.group_counts(child), &before.context());
    let decided = store.flow_cancelled(CancelFlowPolicy::CancelAll).unwrap();
    store.land(decided);
    assert_eq!(
        store.commit(Transaction::of(late.draft, before)),
        Err(RecordKey::Gate(FLOW))
    );
}

#[test]
fn an_edge_resolved_in_an_earlier_life_of_an_upstream_needs_it_no_more() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    let child = store.add(2, &[1]);
    store.add(3, &[]);
    let needs = |store: &Store, decided| {
        let edge = store.edges_from(root).remove(0);
        group::needs(&edge, &store.execution(child), &store.group_counts(child), decided)
    };
    assert!(needs(&store, id(3)));
    assert!(!needs(&store, child));
    store.run(root, End::Well);
    assert!(!needs(&store, id(3)));
}

#[test]
fn who_feeds_only_decided_groups_is_cancelled_whichever_is_decided_last() {
    for order in [[1, 3], [3, 1]] {
        let mut store = Store::started(Assembly::Open);
        let upstreams = [1, 2, 3].map(|number| store.add(number, &[]));
        store.add_joining(4, &[1, 2], CANCEL);
        store.add_joining(5, &[2, 3], CANCEL);
        store.run(id(order[0]), End::Well);
        assert!(store.is_queued(upstreams[1]), "the other group waits for it");
        store.run(id(order[1]), End::Well);
        assert_eq!(store.state(upstreams[1]), PublicState::Cancelled);
    }
}
