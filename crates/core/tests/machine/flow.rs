//! Flows: their gate, members and edges, cancellation, derived state and retention.

use ff_core::command::flow::{Applied, Assembly, CancelProgress, FlowCreated, Joined, Opened, StageDependencyEdge};
use ff_core::command::submit::{CreateExecution, DependsOn};
use ff_core::error::{Code, Rejection};
use ff_core::id::{EdgeId, ExecutionId, FlowId};
use ff_core::machine::claim::HandOut;
use ff_core::machine::decided::Write;
use ff_core::machine::edge::{CycleSearch, CycleVerdict};
use ff_core::machine::flow::{self, Doomed, FlowState};
use ff_core::machine::member::{self, Membership};
use ff_core::machine::submit::{self, Known};
use ff_core::partition::Partition;
use ff_core::record::{
    CancelFlowPolicy, CancelSource, DependencyKind, Edge, EdgeGroupPolicy, EdgeState, GateState, Record, RecordKey,
};
use ff_core::state::PublicState;
use ff_core::time::Duration;
use uuid::Uuid;

use crate::flows::store::{FLOW, Store, Transaction};
use crate::flows::work::{Progress, Work};
use crate::flows::{Answer, End, create_flow, id, on, refusal, submission};

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

fn state(store: &Store) -> FlowState {
    flow::state(store.gate().unwrap(), &store.flow_counts())
}

fn advance(store: &mut Store) {
    let decided = store.about_flow(flow::advance);
    store.land(decided);
}

fn cancel(store: &mut Store, policy: CancelFlowPolicy) {
    let decided = store.flow_cancelled(policy).unwrap();
    store.land(decided);
    store.pump();
}

#[test]
fn creating_a_flow_again_answers_exists_and_another_definition_is_refused() {
    let store = Store::started(Assembly::Open);
    let same = flow::create(
        store.flow().as_ref(),
        FLOW,
        &create_flow(Assembly::Open),
        &store.context(),
    )
    .unwrap();
    assert_eq!(same.outcome, FlowCreated::Exists);
    assert!(same.draft.is_empty());
    let other = flow::create(
        store.flow().as_ref(),
        FLOW,
        &create_flow(Assembly::Assembling),
        &store.context(),
    );
    assert_eq!(refusal(other), Code::AlreadyExists);
}

#[test]
fn a_flow_is_open_running_blocked_and_ended_as_its_members_are() {
    let mut store = Store::started(Assembly::Open);
    assert_eq!(state(&store), FlowState::Open);
    let root = store.add(1, &[]);
    let child = store.add(2, &[1]);
    assert_eq!(state(&store), FlowState::Running);
    store.run(root, End::Well);
    store.run(child, End::Well);
    assert_eq!(state(&store), FlowState::Completed);
    assert!(store.flow().unwrap().ended_at.is_some());
    let waits = store.add(3, &[]);
    store.add(4, &[3]);
    assert_eq!(state(&store), FlowState::Running);
    assert_eq!(store.flow().unwrap().ended_at, None);
    store.run(waits, End::Badly);
    assert_eq!(state(&store), FlowState::Failed);
}

#[test]
fn a_flow_whose_open_members_all_wait_for_something_is_blocked() {
    let mut store = Store::started(Assembly::Open);
    let (root, child) = (store.add(1, &[]), store.add(2, &[1]));
    let decided = store.cancelled(root).unwrap();
    store.land(decided);
    assert_eq!(store.state(child), PublicState::WaitingChildren);
    assert_eq!(state(&store), FlowState::Blocked);
}

#[test]
fn nothing_runs_before_an_assembling_flow_is_opened() {
    let mut store = Store::started(Assembly::Assembling);
    let (root, child) = (store.add(1, &[]), store.add(2, &[1]));
    assert!(!store.is_queued(root));
    assert_eq!(state(&store), FlowState::Open);
    let decided = store.about_flow(flow::open).unwrap();
    assert_eq!(store.land(decided), Opened::Now);
    store.pump();
    assert!(store.is_queued(root));
    assert_eq!(store.state(child), PublicState::WaitingChildren);
    assert_eq!(store.about_flow(flow::open).unwrap().outcome, Opened::Already);
}

#[test]
fn a_member_submitted_while_the_gate_closes_is_refused_by_the_store() {
    let mut store = Store::started(Assembly::Open);
    store.add(1, &[]);
    let before = store.clone();
    let late = before.submitted(id(2), &submission()).unwrap();
    cancel(&mut store, CancelFlowPolicy::FlowOnly);
    assert_eq!(
        store.commit(Transaction::of(late.draft, before)),
        Err(RecordKey::Gate(FLOW))
    );
    assert_eq!(
        refusal(store.submitted(id(2), &submission())),
        Code::FlowAlreadyTerminal
    );
}

#[test]
fn a_submission_repeated_after_its_flow_was_sealed_still_gets_its_first_answer() {
    let mut store = Store::started(Assembly::Open);
    let member = store.add_joining(1, &[], EdgeGroupPolicy::AllOf);
    cancel(&mut store, CancelFlowPolicy::FlowOnly);
    let command = CreateExecution {
        edge_group_policy: Some(EdgeGroupPolicy::AllOf),
        ..submission()
    };
    let existing = store.execution(member);
    let known = Known {
        existing: Some(&existing),
        ..Known::default()
    };
    let decided = store.about_flow(|flow, context| {
        let mut decided = submit::create(&command, member, known, context)?;
        let membership = Membership {
            flow,
            depends_on: &[],
            upstreams: &[],
        };
        member::join(&mut decided.draft, member, membership, context)?;
        Ok::<_, Rejection>(decided)
    });
    assert!(decided.unwrap().draft.is_empty());
}

fn solo(number: u128, partition: u16) -> (ExecutionId, Store) {
    solo_beside(number, partition, Assembly::Open)
}

fn solo_beside(number: u128, partition: u16, assembly: Assembly) -> (ExecutionId, Store) {
    let mut store = Store::started(assembly);
    let id = ExecutionId::new(partition, Uuid::from_u128(number));
    let command = CreateExecution {
        flow_id: None,
        ..submission()
    };
    let decided = submit::create(&command, id, Known::default(), &store.context()).unwrap();
    store.land(decided);
    (id, store)
}

fn added(store: &Store, id: ExecutionId) -> Answer<Joined> {
    let context = store.context();
    store.about_flow(|loaded, _| member::add(&store.execution(id), loaded, Partition::flow(3), &context))
}

#[test]
fn a_solo_execution_joins_a_flow_and_is_counted_and_kept_with_it() {
    let (id, mut store) = solo(9, 3);
    assert!(store.claim(id, 1));
    let mut solo_store = store.clone();
    let decided = store.ended(id, End::Well).unwrap();
    store.land(decided);
    assert!(store.execution(id).outcome().unwrap().delete_at.is_some());
    let decided = added(&store, id).unwrap();
    assert_eq!(store.land(decided), Joined::Added { node_count: 1 });
    assert_eq!(store.execution(id).outcome().unwrap().delete_at, None);
    store.assert_counters();
    assert_eq!(
        added(&store, id).unwrap().outcome,
        Joined::AlreadyMember { node_count: 1 }
    );
    let decided = added(&solo_store, id).unwrap();
    solo_store.land(decided);
    solo_store.assert_counters();
}

#[test]
fn what_ran_is_not_deleted_by_whoever_did_not_see_it_join() {
    let (id, mut store) = solo_beside(9, 3, Assembly::Assembling);
    assert!(store.claim(id, 1));
    store.wait(Duration::from_hours(2));
    let before = store.clone();
    let deletion = before.about_flow(flow::advance).draft;
    assert!(!deletion.is_empty());
    let decided = added(&store, id).unwrap();
    store.land(decided);
    assert!(store.commit(Transaction::of(deletion, before)).is_err());
    advance(&mut store);
    let flow = store.flow().unwrap();
    assert_eq!((flow.deleting, flow::due_at(&flow)), (false, None));
    assert_eq!(
        store.about_flow(flow::request_delete).unwrap_err().code,
        Code::ExecutionNotTerminal
    );
}

#[test]
fn an_execution_of_another_partition_or_flow_cannot_join() {
    let (id, store) = solo(9, 4);
    assert_eq!(refusal(added(&store, id)), Code::PartitionMismatch);
    let mut elsewhere = Store::started(Assembly::Open);
    let member = elsewhere.add(1, &[]);
    let mut execution = elsewhere.execution(member);
    let mut definition = (*execution.definition).clone();
    definition.flow = Some(FlowId::from_uuid(Uuid::from_u128(5)));
    execution.definition = definition.into();
    let context = elsewhere.context();
    let answer = elsewhere.about_flow(|loaded, _| member::add(&execution, loaded, Partition::flow(3), &context));
    assert_eq!(refusal(answer), Code::AlreadyMemberOfDifferentFlow);
}

#[test]
fn an_edge_is_refused_when_the_graph_has_moved_on_or_has_it_already() {
    let mut store = Store::started(Assembly::Open);
    store.add(1, &[]);
    store.add(2, &[]);
    let decided = store.staged(&stage(1, 2)).unwrap();
    let staged = store.land(decided);
    assert_eq!(staged.graph_revision, 1);
    assert_eq!(staged.edge_id, Edge::id_between(id(1), id(2)));
    assert_eq!(refusal(store.staged(&stage(1, 2))), Code::DependencyAlreadyExists);
    assert_eq!(refusal(store.staged(&stage(2, 1))), Code::CycleDetected);
    assert_eq!(refusal(store.staged(&stage(1, 1))), Code::SelfReferencingEdge);
    store.add(3, &[]);
    let stale = StageDependencyEdge {
        expected_graph_revision: Some(0),
        ..stage(1, 3)
    };
    assert_eq!(refusal(store.staged(&stale)), Code::StaleGraphRevision);
}

#[test]
fn an_edge_with_a_given_id_can_be_staged_again_and_gets_its_first_answer() {
    let mut store = Store::started(Assembly::Open);
    store.add(1, &[]);
    store.add(2, &[]);
    let named = StageDependencyEdge {
        edge_id: Some(EdgeId::from_uuid(Uuid::from_u128(77))),
        ..stage(1, 2)
    };
    let decided = store.staged(&named).unwrap();
    let first = store.land(decided);
    store.add(3, &[1]);
    assert_eq!(store.staged(&named).unwrap().outcome, first);
    assert_eq!(refusal(store.staged(&stage(1, 2))), Code::DependencyAlreadyExists);
    let other = StageDependencyEdge {
        dependency_kind: DependencyKind::AnyTerminal,
        ..named
    };
    assert_eq!(refusal(store.staged(&other)), Code::AlreadyExists);
}

#[test]
fn two_edges_that_would_close_a_cycle_cannot_both_be_staged_at_once() {
    let mut store = Store::started(Assembly::Open);
    store.add(1, &[]);
    store.add(2, &[]);
    let before = store.clone();
    let there = before.staged(&stage(1, 2)).unwrap();
    let back = before.staged(&stage(2, 1)).unwrap();
    store.land(there);
    assert!(store.commit(Transaction::of(back.draft, before)).is_err());
}

#[test]
fn an_applied_edge_blocks_a_runnable_child_and_drops_its_grant() {
    let mut store = Store::started(Assembly::Open);
    store.add(1, &[]);
    let child = store.add(2, &[]);
    let unapplied = StageDependencyEdge {
        apply: false,
        ..stage(1, 2)
    };
    let decided = store.staged(&unapplied).unwrap();
    let edge = store.land(decided).edge_id;
    store.hand_out(child, 1, HandOut::Grant);
    let decided = store.applied(edge).unwrap();
    assert_eq!(store.land(decided), Applied::Applied { unsatisfied_count: 1 });
    assert!(store.execution(child).grant().is_none());
    assert_eq!(store.state(child), PublicState::WaitingChildren);
    assert_eq!(store.applied(edge).unwrap().outcome, Applied::AlreadyApplied);
    store.assert_counters();
}

#[test]
fn an_edge_from_an_ended_upstream_resolves_at_once() {
    let mut store = Store::started(Assembly::Open);
    let (well, badly) = (store.add(1, &[]), store.add(2, &[]));
    store.run(well, End::Well);
    store.run(badly, End::Badly);
    let (happy, sad) = (store.add(3, &[1]), store.add(4, &[2]));
    assert!(store.is_queued(happy));
    assert_eq!(store.state(sad), PublicState::Skipped);
    let late = store.add(5, &[]);
    let decided = store.staged(&stage(2, 5)).unwrap();
    store.land(decided);
    assert_eq!(store.state(late), PublicState::Skipped);
    assert_eq!(refusal(store.staged(&stage(1, 5))), Code::ExecutionNotEligible);
}

#[test]
fn depending_on_a_stranger_is_refused() {
    let store = Store::started(Assembly::Open);
    let command = CreateExecution {
        depends_on: vec![on(id(1))],
        ..submission()
    };
    assert_eq!(refusal(store.submitted(id(2), &command)), Code::ExecutionNotInFlow);
    let command = CreateExecution {
        depends_on: vec![on(id(2))],
        ..submission()
    };
    assert_eq!(refusal(store.submitted(id(2), &command)), Code::SelfReferencingEdge);
}

#[test]
fn an_upstream_or_an_edge_is_named_once() {
    let mut store = Store::started(Assembly::Open);
    store.add(1, &[]);
    store.add(2, &[]);
    let named = |number| DependsOn {
        edge_id: Some(EdgeId::from_uuid(Uuid::from_u128(77))),
        ..on(id(number))
    };
    for depends_on in [vec![on(id(1)), on(id(1))], vec![named(1), named(2)]] {
        let command = CreateExecution {
            depends_on,
            ..submission()
        };
        assert_eq!(refusal(store.submitted(id(3), &command)), Code::DependencyAlreadyExists);
    }
}

fn edge(upstream: u128, downstream: u128) -> Edge {
    Edge {
        id: Edge::id_between(id(upstream), id(downstream)),
        flow_id: FLOW,
        upstream: id(upstream),
        downstream: id(downstream),
        kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
        state: EdgeState::Staged,
        join: Default::default(),
        graph_revision: 1,
        created_at: Default::default(),
        carried: Default::default(),
    }
}

#[test]
fn a_cycle_search_follows_paths_and_gives_up_when_there_are_too_many_nodes() {
    let mut search = CycleSearch::new(id(1), id(3));
    assert_eq!(search.next_frontier(), [id(1)]);
    search.feed(&[edge(1, 2)]);
    assert_eq!(search.next_frontier(), [id(2)]);
    search.feed(&[edge(2, 3)]);
    assert!(search.next_frontier().is_empty());
    assert_eq!(search.verdict(), CycleVerdict::Cycle);

    let mut search = CycleSearch::new(id(1), id(0));
    search.next_frontier();
    let wide: Vec<_> = (2..10_003).map(|to| edge(1, to)).collect();
    search.feed(&wide);
    assert!(search.next_frontier().is_empty());
    assert_eq!(search.verdict(), CycleVerdict::TooLarge);
}

#[test]
fn cancel_all_ends_every_open_member_and_names_the_flow_as_the_reason() {
    let mut store = Store::started(Assembly::Open);
    let (running, waiting) = (store.add(1, &[]), store.add(2, &[1]));
    assert!(store.claim(running, 1));
    cancel(&mut store, CancelFlowPolicy::CancelAll);
    for member in [running, waiting] {
        let ended = store.execution(member);
        assert_eq!(ended.outcome().unwrap().cancel_source, Some(CancelSource::FlowCascade));
    }
    assert_eq!(state(&store), FlowState::Cancelled);
    assert!(store.flow().unwrap().ended_at.is_some());
}

#[test]
fn cancel_pending_lets_a_running_member_finish_but_not_go_back_to_its_queue() {
    let mut store = Store::started(Assembly::Open);
    let (finishes, gives_up, waits) = (store.add(1, &[]), store.add(2, &[]), store.add(3, &[]));
    assert!(store.claim(finishes, 1) && store.claim(gives_up, 2));
    cancel(&mut store, CancelFlowPolicy::CancelPending);
    assert_eq!(store.state(waits), PublicState::Cancelled);
    assert_eq!(store.state(finishes), PublicState::Active);
    let decided = store.released(gives_up).unwrap();
    store.land(decided);
    let decided = store.ended(finishes, End::Well).unwrap();
    store.land(decided);
    assert_eq!(store.state(gives_up), PublicState::Cancelled);
    assert_eq!(store.state(finishes), PublicState::Completed);
}

#[test]
fn flow_only_seals_the_flow_and_its_members_go_on() {
    let mut store = Store::started(Assembly::Open);
    let (root, child) = (store.add(1, &[]), store.add(2, &[1]));
    let decided = store.flow_cancelled(CancelFlowPolicy::FlowOnly).unwrap();
    assert_eq!(store.land(decided).progress, CancelProgress::Cancelled);
    store.run(root, End::Well);
    store.run(child, End::Well);
    assert_eq!(state(&store), FlowState::Completed);
    assert_eq!(refusal(store.staged(&stage(1, 2))), Code::FlowAlreadyTerminal);
}

#[test]
fn sealing_a_flow_that_was_never_opened_lets_its_members_go() {
    let mut store = Store::started(Assembly::Assembling);
    let root = store.add(1, &[]);
    cancel(&mut store, CancelFlowPolicy::FlowOnly);
    assert_eq!(store.gate(), Some(GateState::Sealed));
    assert!(store.is_queued(root));
}

#[test]
fn a_repeated_cancellation_gets_the_first_answer_and_an_ended_flow_none() {
    let mut store = Store::started(Assembly::Open);
    assert_eq!(
        refusal(store.flow_cancelled(CancelFlowPolicy::CancelAll)),
        Code::FlowAlreadyTerminal
    );
    store.add(1, &[]);
    cancel(&mut store, CancelFlowPolicy::CancelAll);
    let again = store.flow_cancelled(CancelFlowPolicy::FlowOnly).unwrap();
    assert_eq!(again.outcome.policy, CancelFlowPolicy::CancelAll);
    assert_eq!(again.outcome.progress, CancelProgress::Scheduled);
    assert_eq!(again.outcome.member_count, 1);
    assert!(again.draft.is_empty());
}

/// Advances through both steps of deleting and deletes the members.
fn delete(store: &mut Store) {
    advance(store);
    advance(store);
    assert!(store.flow().unwrap().deleting);
    for member in store.executions() {
        let parts: Vec<_> = store
            .edges_from(member.id)
            .iter()
            .map(|edge| RecordKey::Edge(edge.id))
            .collect();
        let page = [Doomed {
            member: &member,
            parts: &parts,
            last: true,
        }];
        let decided = flow::delete_members(&store.flow().unwrap(), &page, &store.context());
        store.land(decided);
    }
    store.assert_counters();
    let decided = store.about_flow(|loaded, _| flow::delete(loaded));
    store.land(decided);
    assert!(store.flow().is_none() && store.gate().is_none() && store.executions().is_empty());
    assert!(store.edges().is_empty());
}

#[test]
fn a_flow_is_deleted_with_its_members_when_its_retention_is_over() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    store.add(2, &[1]);
    store.run(root, End::Badly);
    let due = flow::due_at(&store.flow().unwrap()).unwrap();
    assert_eq!(due, store.now + Duration::from_hours(24));
    advance(&mut store);
    assert_eq!(store.gate(), Some(GateState::Open));
    store.wait(Duration::from_hours(24));
    delete(&mut store);
}

#[test]
fn a_member_that_slips_in_before_the_gate_closes_saves_its_flow() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    store.run(root, End::Well);
    store.wait(Duration::from_hours(24));
    let before = store.clone();
    let closing = before.about_flow(flow::advance);
    let decided = store.submitted(id(2), &submission()).unwrap();
    store.land(decided);
    store.commit(Transaction::of(closing.draft, before)).unwrap();
    assert_eq!(store.gate(), Some(GateState::Sealed));
    store.pump();
    assert_eq!(store.gate(), Some(GateState::Open));
    assert_eq!(store.flow().unwrap().ended_at, None);
    assert!(store.is_queued(id(2)));
}

#[test]
fn an_empty_flow_is_deleted_after_a_day_and_an_unopened_one_after_an_hour() {
    let mut empty = Store::started(Assembly::Open);
    assert_eq!(
        flow::due_at(&empty.flow().unwrap()),
        Some(empty.now + Duration::from_hours(24))
    );
    empty.wait(Duration::from_hours(24));
    delete(&mut empty);

    let mut unopened = Store::started(Assembly::Assembling);
    unopened.add(1, &[]);
    assert_eq!(
        flow::due_at(&unopened.flow().unwrap()),
        Some(unopened.now + Duration::from_hours(1))
    );
    unopened.wait(Duration::from_hours(1));
    delete(&mut unopened);
}

#[test]
fn an_operator_deletes_an_ended_flow_but_not_one_with_open_members() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    assert_eq!(
        refusal(store.about_flow(flow::request_delete)),
        Code::ExecutionNotTerminal
    );
    store.run(root, End::Well);
    let decided = store.about_flow(flow::request_delete).unwrap();
    store.land(decided);
    delete(&mut store);
}

#[test]
fn a_deleting_flow_is_not_there_any_more() {
    let mut store = Store::started(Assembly::Open);
    store.wait(Duration::from_hours(24));
    advance(&mut store);
    advance(&mut store);
    assert_eq!(refusal(store.submitted(id(1), &submission())), Code::FlowNotFound);
    assert_eq!(
        refusal(store.flow_cancelled(CancelFlowPolicy::CancelAll)),
        Code::FlowNotFound
    );
}

#[test]
fn derived_edge_ids_are_uuids_of_version_8() {
    let id = Edge::id_between(id(1), id(2));
    assert_eq!(id.uuid().get_version_num(), 8);
    let record = Record::from(edge(1, 2));
    assert_eq!(record.key(), RecordKey::Edge(id));
}

#[test]
fn a_member_that_depends_on_somebody_who_ends_meanwhile_is_submitted_anew() {
    let mut store = Store::started(Assembly::Open);
    let root = store.add(1, &[]);
    let before = store.clone();
    let command = CreateExecution {
        depends_on: vec![on(root)],
        ..submission()
    };
    let late = before.submitted(id(2), &command).unwrap();
    assert!(store.claim(root, 1));
    let decided = store.ended(root, End::Well).unwrap();
    store.land(decided);
    assert_eq!(
        store.commit(Transaction::of(late.draft, before)),
        Err(RecordKey::Execution(root))
    );
}

#[test]
fn members_are_not_let_go_after_their_flow_was_cancelled() {
    let mut store = Store::started(Assembly::Assembling);
    store.add(1, &[]);
    store.add(2, &[]);
    let decided = store.about_flow(flow::open).unwrap();
    store.land(decided);
    let before = store.clone();
    let late = Progress::new(1).page(&before, &Work::OpenMembers).draft;
    cancel(&mut store, CancelFlowPolicy::CancelAll);
    assert!(store.commit(Transaction::of(late, before)).is_err());
}

#[test]
fn a_page_that_is_not_the_last_conflicts_with_whatever_changes_its_flow() {
    let mut store = Store::started(Assembly::Assembling);
    store.add(1, &[]);
    store.add(2, &[]);
    let decided = store.about_flow(flow::open).unwrap();
    store.land(decided);
    let page = Progress::new(1).page(&store, &Work::OpenMembers).draft;
    assert!(page.guards.contains(&RecordKey::Flow(FLOW)));
    let last = Progress::new(2).page(&store, &Work::OpenMembers).draft;
    assert!(
        last.writes
            .iter()
            .any(|write| matches!(write, Write::Put(Record::Flow(flow)) if !flow.opening))
    );
}
