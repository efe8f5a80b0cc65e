//! create_flow_graph: what is refused as a whole, and how a part is written in bounded transactions.

use std::collections::BTreeSet;

use ff_core::command::flow::{Assembly, GraphEdge, GraphMember};
use ff_core::command::submit::CreateExecution;
use ff_core::error::{Code, Rejection};
use ff_core::id::ExecutionId;
use ff_core::limits::{BATCH_ITEMS_MAX, FOLLOW_UP_CHUNK, GRAPH_EDGES_MAX};
use ff_core::machine::decided::Write;
use ff_core::machine::graph::{self, Chunk, ChunkLoaded, ClosingSearch, Found, GraphPart, Plan};
use ff_core::machine::{Decided, flow};
use ff_core::partition::Partition;
use ff_core::record::{DependencyKind, Edge, EdgeGroupPolicy, Execution, Happening, OnSatisfied};
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use proptest::prelude::*;
use uuid::Uuid;

use crate::flows::store::{FLOW, Store};
use crate::flows::{End, create_flow, submission};

const PARTITION: Partition = Partition::flow(3);

fn member(key: impl ToString + Copy) -> GraphMember {
    GraphMember {
        key: key.to_string(),
        submission: CreateExecution {
            flow_id: None,
            ..submission()
        },
    }
}

fn edge(upstream: impl ToString + Copy, downstream: impl ToString + Copy) -> GraphEdge {
    GraphEdge {
        upstream: upstream.to_string(),
        downstream: downstream.to_string(),
        dependency_kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
    }
}

fn part(members: Vec<GraphMember>, edges: Vec<GraphEdge>) -> GraphPart {
    GraphPart {
        flow_id: FLOW,
        members,
        edges,
    }
}

fn refused(part: &GraphPart) -> Code {
    graph::plan(part, PARTITION).unwrap_err().code
}

fn id(key: &str) -> ExecutionId {
    graph::member_id(FLOW, PARTITION, key)
}

/// Writes what is missing of every chunk and answers how many lacked something.
fn write(store: &mut Store, part: &GraphPart, plan: &Plan) -> usize {
    try_write(store, part, plan).unwrap()
}

fn try_write(store: &mut Store, part: &GraphPart, plan: &Plan) -> Result<usize, Rejection> {
    let missing = plan.missing(part, &found(&store.executions(), &store.edges()))?;
    for chunk in &missing {
        let (executions, edges) = (store.executions(), store.edges());
        let chunk = chunk.missing(part, &found(&executions, &edges))?;
        let executions: Vec<_> = executions.iter().collect();
        let draft = store.about_flow(|flow, context| {
            let loaded = ChunkLoaded {
                flow,
                executions: &executions,
                known: &[],
            };
            graph::draft(&chunk, part, loaded, context)
        })?;
        let records = draft
            .writes
            .iter()
            .filter(|write| matches!(write, Write::Create { .. }))
            .count();
        assert!(records <= FOLLOW_UP_CHUNK, "{records} new records in one transaction");
        store.land(Decided { outcome: (), draft });
    }
    Ok(missing.len())
}

fn found<'a>(executions: &'a [Execution], edges: &'a [Edge]) -> Found<'a> {
    Found::new(executions, edges)
}

/// Whether what is missing of a part closes a cycle in the store.
fn closes(store: &Store, part: &GraphPart) -> bool {
    let (executions, edges) = (store.executions(), store.edges());
    let found = found(&executions, &edges);
    let plan = graph::plan(part, PARTITION).unwrap();
    let missing = plan.missing(part, &found).unwrap();
    let gaining = missing.iter().flat_map(|chunk| chunk.gaining(&found));
    let mut search = ClosingSearch::new(gaining, missing.iter().flat_map(Chunk::dependencies));
    loop {
        let frontier = search.next_frontier();
        if frontier.is_empty() {
            return search.check().is_err();
        }
        for node in frontier {
            search.feed(&store.edges_from(node));
        }
    }
}

fn open(store: &mut Store) {
    let decided = store.about_flow(flow::open).unwrap();
    store.land(decided);
    store.pump();
}

#[test]
fn a_graph_that_fits_into_one_transaction_is_created_open() {
    let mut store = Store::default();
    store.now = Timestamp::from_millis(1_000_000);
    let chain = part(vec![member("a"), member("b")], vec![edge("a", "b")]);
    let plan = graph::plan(&chain, PARTITION).unwrap();
    let definition = create_flow(Assembly::Assembling);
    let draft = graph::draft_opened(&plan.chunks[0], &chain, &definition, &[], &store.context()).unwrap();
    assert!(draft.guards.is_empty() && draft.nudges.is_empty(), "{draft:?}");
    let lines: Vec<_> = draft.history.iter().map(|line| line.what).collect();
    assert_eq!(
        lines[..3],
        [Happening::FlowCreated, Happening::EdgeStaged, Happening::FlowOpened]
    );
    store.land(Decided { outcome: (), draft });
    assert!(store.is_queued(id("a")) && !store.is_queued(id("b")));
    store.run(id("a"), End::Well);
    store.run(id("b"), End::Well);
    assert_eq!(store.state(id("b")), PublicState::Completed);
    store.pump();
    assert!(store.flow().unwrap().ended_at.is_some());
}

#[test]
fn a_graph_is_written_whole_before_anything_of_it_runs() {
    let mut store = Store::started(Assembly::Assembling);
    let diamond = part(
        vec![member("end"), member("left"), member("right"), member("start")],
        vec![
            edge("start", "left"),
            edge("start", "right"),
            edge("left", "end"),
            edge("right", "end"),
        ],
    );
    let plan = graph::plan(&diamond, PARTITION).unwrap();
    assert_eq!(plan.ids, ["end", "left", "right", "start"].map(id));
    write(&mut store, &diamond, &plan);
    store.pump();
    assert!(plan.ids.iter().all(|id| !store.is_queued(*id)));
    open(&mut store);
    for key in ["start", "left", "right", "end"] {
        store.run(id(key), End::Well);
    }
    assert_eq!(store.state(id("end")), PublicState::Completed);
    assert_eq!(store.flow().unwrap().graph_revision, 4);
}

#[test]
fn a_repeated_call_goes_on_where_the_first_one_stopped() {
    let mut store = Store::started(Assembly::Assembling);
    let members: Vec<_> = (0..200).map(member).collect();
    let edges: Vec<_> = (1..200).map(|to| edge(to - 1, to)).collect();
    let chain = part(members, edges);
    let plan = graph::plan(&chain, PARTITION).unwrap();
    let first = Plan {
        chunks: plan.chunks[..2].to_vec(),
        ids: plan.ids.clone(),
    };
    assert_eq!(write(&mut store, &chain, &first), 2);
    let again = graph::plan(&chain, PARTITION).unwrap();
    assert_eq!(write(&mut store, &chain, &again), plan.chunks.len() - 2);
    assert_eq!(write(&mut store, &chain, &again), 0);
    store.assert_counters();
}

#[test]
fn a_part_sent_again_adds_what_it_has_more() {
    let mut store = Store::started(Assembly::Assembling);
    let send = |store: &mut Store, part: &GraphPart| write(store, part, &graph::plan(part, PARTITION).unwrap());
    send(&mut store, &part(vec![member("a"), member("b")], vec![]));
    let more = part(
        vec![member("a"), member("b"), member("c")],
        vec![edge("a", "b"), edge("b", "c")],
    );
    assert_eq!(send(&mut store, &more), 1);
    assert_eq!(send(&mut store, &more), 0);
    store.assert_counters();
    assert_eq!(store.execution(id("b")).dependencies.unwrap().unsatisfied, 1);
    open(&mut store);
    for key in ["a", "b", "c"] {
        let waiting: Vec<_> = ["a", "b", "c"]
            .into_iter()
            .filter(|key| store.is_queued(id(key)))
            .collect();
        assert_eq!(waiting, [key]);
        store.run(id(key), End::Well);
    }
}

#[test]
fn what_is_there_must_be_what_the_part_says() {
    let mut store = Store::started(Assembly::Assembling);
    let sent = || part(vec![member("a"), member("b")], vec![edge("a", "b")]);
    let mut send = |part: &GraphPart| try_write(&mut store, part, &graph::plan(part, PARTITION).unwrap());
    send(&sent()).unwrap();
    let mut other = sent();
    other.members[1].submission.priority = 1;
    assert_eq!(send(&other).unwrap_err().code, Code::AlreadyExists);
    let mut other = sent();
    other.edges[0].dependency_kind = DependencyKind::AnyTerminal;
    assert_eq!(send(&other).unwrap_err().code, Code::AlreadyExists);
    assert_eq!(send(&sent()).unwrap(), 0);
}

#[test]
fn only_edges_into_members_that_are_there_can_close_a_cycle() {
    let mut store = Store::started(Assembly::Assembling);
    let three = || vec![member("a"), member("b"), member("c")];
    let chain = part(three(), vec![edge("a", "b"), edge("b", "c")]);
    write(&mut store, &chain, &graph::plan(&chain, PARTITION).unwrap());
    assert!(!closes(&store, &part(three(), vec![edge("a", "c")])));
    assert!(closes(&store, &part(three(), vec![edge("c", "a")])));
    let new = |edges| {
        let mut members = three();
        members.extend([member("x"), member("y")]);
        part(members, edges)
    };
    assert!(!closes(
        &store,
        &new(vec![edge("a", "x"), edge("x", "c"), edge("y", "a")])
    ));
    assert!(closes(
        &store,
        &new(vec![edge("c", "x"), edge("x", "y"), edge("y", "a")])
    ));
    assert!(closes(&store, &new(vec![edge("c", "x"), edge("x", "b")])));
}

#[test]
fn a_member_is_handed_one_result_of_a_name() {
    let called = |upstream: &'static str, name: &str| GraphEdge {
        data_passing_ref: name.parse().ok(),
        ..edge(upstream, "c")
    };
    let three = || vec![member("a"), member("b"), member("c")];
    assert_eq!(
        refused(&part(three(), vec![called("a", "x"), called("b", "x")])),
        Code::InvalidInput
    );
    let mut store = Store::started(Assembly::Assembling);
    let first = part(three(), vec![called("a", "x")]);
    write(&mut store, &first, &graph::plan(&first, PARTITION).unwrap());
    let second = part(three(), vec![called("b", "x")]);
    let answer = try_write(&mut store, &second, &graph::plan(&second, PARTITION).unwrap());
    assert_eq!(answer.unwrap_err().code, Code::InvalidInput);
}

#[test]
fn a_fan_in_larger_than_a_transaction_waits_for_every_upstream() {
    let mut store = Store::started(Assembly::Assembling);
    let wide = 150;
    let mut members: Vec<_> = (0..wide).map(member).collect();
    members.push(member("join"));
    let join = part(members, (0..wide).map(|from| edge(from, "join")).collect());
    let plan = graph::plan(&join, PARTITION).unwrap();
    write(&mut store, &join, &plan);
    store.assert_counters();
    assert_eq!(store.execution(id("join")).dependencies.unwrap().unsatisfied, wide);
    open(&mut store);
    for from in 0..wide {
        assert_eq!(store.state(id("join")), PublicState::WaitingChildren);
        store.run(id(&from.to_string()), End::Well);
    }
    assert!(store.is_queued(id("join")));
}

#[test]
fn a_later_part_may_depend_on_members_of_an_earlier_one_by_name_or_id() {
    let mut store = Store::started(Assembly::Assembling);
    let first = part(vec![member("a"), member("b")], vec![]);
    let plan = graph::plan(&first, PARTITION).unwrap();
    write(&mut store, &first, &plan);
    let second = part(vec![member("c")], vec![edge("a", "c"), edge(id("b"), "c")]);
    let plan = graph::plan(&second, PARTITION).unwrap();
    write(&mut store, &second, &plan);
    assert_eq!(store.edges_into(id("c")).len(), 2);
    let stranger = part(vec![member("d")], vec![edge("nobody", "d")]);
    let plan = graph::plan(&stranger, PARTITION).unwrap();
    let answer = try_write(&mut store, &stranger, &plan);
    assert_eq!(answer.unwrap_err().code, Code::ExecutionNotInFlow);
}

#[test]
fn a_graph_cannot_be_built_in_an_open_flow() {
    let mut store = Store::started(Assembly::Open);
    let one = part(vec![member("a")], vec![]);
    let plan = graph::plan(&one, PARTITION).unwrap();
    assert_eq!(
        try_write(&mut store, &one, &plan).unwrap_err().code,
        Code::AlreadyExists
    );
}

#[test]
fn what_no_graph_may_contain_is_refused_before_anything_is_written() {
    let two = || vec![member("a"), member("b")];
    assert_eq!(refused(&part(vec![], vec![])), Code::InvalidInput);
    assert_eq!(refused(&part(two(), vec![edge("a", "a")])), Code::SelfReferencingEdge);
    assert_eq!(
        refused(&part(two(), vec![edge("a", "b"), edge("a", "b")])),
        Code::DependencyAlreadyExists
    );
    assert_eq!(
        refused(&part(two(), vec![edge("a", "b"), edge("b", "a")])),
        Code::CycleDetected
    );
    assert_eq!(
        refused(&part(two(), vec![edge("a", "elsewhere")])),
        Code::ExecutionNotInFlow
    );
    assert_eq!(
        refused(&part(vec![member("a"), member("a")], vec![])),
        Code::InvalidInput
    );
}

#[test]
fn a_quorum_no_member_can_reach_is_refused() {
    let quorum = |k| {
        let mut join = member("join");
        let policy = EdgeGroupPolicy::Quorum {
            k,
            on_satisfied: OnSatisfied::LetRun,
        };
        join.submission.edge_group_policy = Some(policy);
        part(vec![member("a"), join], vec![edge("a", "join")])
    };
    assert!(graph::plan(&quorum(1), PARTITION).is_ok());
    assert_eq!(refused(&quorum(2)), Code::InvalidInput);
    assert_eq!(refused(&quorum(0)), Code::InvalidInput);
}

#[test]
fn a_part_has_a_largest_size() {
    let members: Vec<_> = (0..=BATCH_ITEMS_MAX).map(member).collect();
    assert_eq!(refused(&part(members, vec![])), Code::BatchTooLarge);
    let edges = vec![edge("a", "b"); GRAPH_EDGES_MAX + 1];
    assert_eq!(
        refused(&part(vec![member("a"), member("b")], edges)),
        Code::BatchTooLarge
    );
}

#[test]
fn a_member_says_nothing_that_the_graph_says() {
    let with = |change: fn(&mut CreateExecution)| {
        let mut member = member("a");
        change(&mut member.submission);
        part(vec![member], vec![])
    };
    assert_eq!(
        refused(&with(|it| it.depends_on = vec![crate::flows::on(crate::flows::id(1))])),
        Code::InvalidInput
    );
    assert_eq!(
        refused(&with(|it| it.idempotency_key = "key".parse().ok())),
        Code::InvalidInput
    );
    let elsewhere = |it: &mut CreateExecution| it.execution_id = Some(ExecutionId::new(4, Uuid::from_u128(1)));
    assert_eq!(refused(&with(elsewhere)), Code::PartitionMismatch);
    assert!(graph::plan(&with(|it| it.execution_id = Some(crate::flows::id(1))), PARTITION).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_upstream_is_written_no_later_than_what_waits_for_it(
        pairs in prop::collection::btree_set((0..40_usize, 0..40_usize), 0..300),
        shuffle in any::<u64>(),
    ) {
        // Edges go from smaller to larger ranks, members are given in another order: no cycle, no order to rely on.
        let rank = |position: usize| (position as u64).wrapping_mul(shuffle | 1) % 1_009;
        let pairs: BTreeSet<_> = pairs.into_iter().filter(|(from, to)| rank(*from) < rank(*to)).collect();
        let graph = part((0..40).map(member).collect(), pairs.iter().map(|(from, to)| edge(from, to)).collect());
        let plan = graph::plan(&graph, PARTITION).unwrap();
        let mut store = Store::started(Assembly::Assembling);
        write(&mut store, &graph, &plan);
        prop_assert_eq!(store.edges().len(), pairs.len());
        prop_assert_eq!(store.executions().len(), 40);
        store.assert_counters();
    }
}
