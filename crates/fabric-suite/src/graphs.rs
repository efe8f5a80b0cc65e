//! Whole graphs in one call, or in parts.

use ff_core::command::flow::{FlowGraph, StageDependencyEdge};
use ff_core::command::page::PageRequest;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::{BudgetId, EdgeId, FlowId};
use ff_core::machine::flow::FlowState;
use ff_core::name::DataRef;
use ff_core::record::{DependencyKind, EdgeGroupPolicy, OnSatisfied};
use ff_core::state::PublicState;

use crate::Harness;
use crate::scene::{Scene, WORKER, all, dependency, edge, fresh, graph, graph_member, refused, under};

pub(crate) async fn a_graph_runs_in_the_order_of_its_edges(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene
        .flow(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"])])
        .await;
    let first = scene.claim(WORKER).await;
    assert_eq!(first.execution_id, graph.member("a"));
    scene.finish(&first).await;
    for _ in 0..2 {
        let task = scene.claim(WORKER).await;
        assert_ne!(task.execution_id, graph.member("d"));
        scene.finish(&task).await;
    }
    assert_eq!(scene.claim(WORKER).await.execution_id, graph.member("d"));
}

pub(crate) async fn a_wide_graph_runs_to_its_end(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let names: Vec<String> = (0..150).map(|n| format!("m{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut members: Vec<(&str, &[&str])> = vec![("first", &[])];
    members.extend(names.iter().map(|name| (*name, &["first"][..])));
    members.push(("last", &names));
    let graph = scene.flow(&members).await;
    let mut order = Vec::new();
    while order.len() < members.len() {
        let task = scene.claim(WORKER).await;
        scene.finish(&task).await;
        order.push(task.execution_id);
    }
    assert_eq!((order[0], order[151]), (graph.member("first"), graph.member("last")));
    let flow = scene.fabric.get_flow(graph.flow_id).await.unwrap();
    assert_eq!(
        (flow.state, flow.counts.of(PublicState::Completed)),
        (FlowState::Completed, 152)
    );
}

pub(crate) async fn a_graph_may_come_in_parts(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow_id = FlowId::from_uuid(fresh());
    let one = FlowGraph {
        open: false,
        ..named(flow_id, &[("a", &[])])
    };
    let one = scene.build(one).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    let two = scene.build(named(flow_id, &[("b", &["a"])])).await;
    let task = scene.claim(WORKER).await;
    assert_eq!(task.execution_id, one.member("a"));
    assert_eq!(scene.state(two.member("b")).await, PublicState::WaitingChildren);
    scene.finish(&task).await;
    assert_eq!(scene.claim(WORKER).await.execution_id, two.member("b"));
}

pub(crate) async fn the_same_graph_again_is_the_same_graph(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow_id = FlowId::from_uuid(fresh());
    let graph = || named(flow_id, &[("a", &[]), ("b", &["a"])]);
    let first = scene.fabric.create_flow_graph(graph()).await.unwrap();
    assert_eq!(scene.fabric.create_flow_graph(graph()).await.unwrap(), first);
    assert_eq!(scene.fabric.get_flow(flow_id).await.unwrap().counts.members, 2);
}

pub(crate) async fn a_part_sent_again_with_more_adds_what_is_missing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow_id = FlowId::from_uuid(fresh());
    scene.build(unopened(named(flow_id, &[("a", &[])]))).await;
    let whole = scene.build(named(flow_id, &[("a", &[]), ("c", &["a"])])).await;
    assert_eq!(size_of(&scene, flow_id).await, (2, 1));
    let first = scene.claim(WORKER).await;
    assert_eq!(first.execution_id, whole.member("a"));
    assert_eq!(scene.state(whole.member("c")).await, PublicState::WaitingChildren);
    scene.finish(&first).await;
    assert_eq!(scene.claim(WORKER).await.execution_id, whole.member("c"));
}

pub(crate) async fn an_edge_between_members_that_are_there_is_added(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow_id = FlowId::from_uuid(fresh());
    scene.build(unopened(named(flow_id, &[("a", &[]), ("b", &[])]))).await;
    let whole = scene.build(named(flow_id, &[("a", &[]), ("b", &["a"])])).await;
    assert_eq!(size_of(&scene, flow_id).await, (2, 1));
    let first = scene.claim(WORKER).await;
    assert_eq!(first.execution_id, whole.member("a"));
    assert!(scene.try_claim(WORKER).await.is_none(), "the other one waits");
    scene.finish(&first).await;
    assert_eq!(scene.claim(WORKER).await.execution_id, whole.member("b"));
}

pub(crate) async fn a_large_part_sent_again_with_more_is_whole(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow_id = FlowId::from_uuid(fresh());
    let names: Vec<String> = (0..150).map(|n| format!("m{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let members: Vec<(&str, &[&str])> = names.iter().map(|name| (*name, &[][..])).collect();
    scene.build(unopened(named(flow_id, &members[..70]))).await;
    let mut all = members.clone();
    all.push(("last", &names));
    let whole = scene.build(named(flow_id, &all)).await;
    assert_eq!(size_of(&scene, flow_id).await, (151, 150));
    for _ in 0..150 {
        let task = scene.claim(WORKER).await;
        assert_ne!(task.execution_id, whole.member("last"));
        scene.finish(&task).await;
    }
    assert_eq!(scene.claim(WORKER).await.execution_id, whole.member("last"));
}

pub(crate) async fn a_part_that_says_something_else_already_exists(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow_id = FlowId::from_uuid(fresh());
    let sent = || unopened(named(flow_id, &[("a", &[]), ("b", &["a"])]));
    scene.build(sent()).await;
    let mut member = sent();
    member.members[1].submission.priority = 7;
    assert_eq!(refused_again(&scene, member).await, Code::AlreadyExists);
    let mut kind = sent();
    kind.edges[0].dependency_kind = DependencyKind::AnyTerminal;
    assert_eq!(refused_again(&scene, kind).await, Code::AlreadyExists);
    let mut name = sent();
    name.edges[0].data_passing_ref = Some(DataRef::parse("answer").unwrap());
    assert_eq!(refused_again(&scene, name).await, Code::AlreadyExists);
    scene.build(sent()).await;
    assert_eq!(size_of(&scene, flow_id).await, (2, 1));
}

/// A part that differs is refused whole: what it has more is not there afterwards.
async fn refused_again(scene: &Scene<'_>, mut graph: FlowGraph) -> Code {
    graph.members.push(graph_member("more"));
    let flow_id = graph.flow.flow_id.unwrap();
    let code = refused(scene.fabric.create_flow_graph(graph).await);
    assert_eq!(size_of(scene, flow_id).await, (2, 1));
    code
}

pub(crate) async fn an_opened_flow_takes_the_same_graph_again_and_no_more(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow_id = FlowId::from_uuid(fresh());
    let sent = || named(flow_id, &[("a", &[]), ("b", &["a"])]);
    let first = scene.fabric.create_flow_graph(sent()).await.unwrap();
    assert_eq!(scene.fabric.create_flow_graph(sent()).await.unwrap(), first);
    let mut member = sent();
    member.members.push(graph_member("c"));
    assert_eq!(
        refused(scene.fabric.create_flow_graph(member).await),
        Code::AlreadyExists
    );
    let mut dependency = named(flow_id, &[("b", &[])]);
    dependency.edges.push(edge("b", "a"));
    dependency.members.push(graph_member("a"));
    assert_eq!(
        refused(scene.fabric.create_flow_graph(dependency).await),
        Code::AlreadyExists
    );
    assert_eq!(size_of(&scene, flow_id).await, (2, 1));
}

pub(crate) async fn edges_added_to_members_that_are_there_close_no_cycle(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow_id = FlowId::from_uuid(fresh());
    let sent: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"]), ("c", &["b"])];
    scene.build(unopened(named(flow_id, sent))).await;
    let back = named(flow_id, &[("new", &[]), ("a", &["c"]), ("c", &[])]);
    assert_eq!(refused(scene.fabric.create_flow_graph(back).await), Code::CycleDetected);
    let through_a_new_one = named(flow_id, &[("c", &[]), ("new", &["c"]), ("a", &["new"])]);
    assert_eq!(
        refused(scene.fabric.create_flow_graph(through_a_new_one).await),
        Code::CycleDetected
    );
    assert_eq!(size_of(&scene, flow_id).await, (3, 2), "nothing of it was added");
}

pub(crate) async fn an_edge_that_was_staged_under_its_own_id_is_not_added_again(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow_id = FlowId::from_uuid(fresh());
    let there = scene.build(unopened(named(flow_id, &[("a", &[]), ("b", &[])]))).await;
    let staged = StageDependencyEdge {
        edge_id: Some(EdgeId::from_uuid(fresh())),
        ..dependency(there.member("a"), there.member("b"))
    };
    let staged = scene.fabric.stage_dependency_edge(On::new(flow_id, staged)).await;
    assert!(staged.is_ok());
    scene.build(named(flow_id, &[("a", &[]), ("b", &["a"])])).await;
    assert_eq!(size_of(&scene, flow_id).await, (2, 1));
}

fn unopened(graph: FlowGraph) -> FlowGraph {
    FlowGraph { open: false, ..graph }
}

/// How many members and edges a flow has.
async fn size_of(scene: &Scene<'_>, flow_id: FlowId) -> (usize, usize) {
    let members = scene.fabric.list_members(On::new(flow_id, all())).await.unwrap();
    let (mut edges, mut page) = (0, all());
    loop {
        let found = scene.fabric.list_edges(On::new(flow_id, page)).await.unwrap();
        edges += found.items.len();
        page = PageRequest {
            cursor: found.next,
            ..all()
        };
        if page.cursor.is_none() {
            return (members.items.len(), edges);
        }
    }
}

pub(crate) async fn a_graph_with_a_cycle_is_refused_whole(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let cycle: &[(&str, &[&str])] = &[("start", &[]), ("a", &["start", "c"]), ("b", &["a"]), ("c", &["b"])];
    assert_eq!(refused_whole(&scene, graph(cycle)).await, Code::CycleDetected);
    let itself: &[(&str, &[&str])] = &[("a", &["a"])];
    assert_eq!(refused_whole(&scene, graph(itself)).await, Code::SelfReferencingEdge);
}

pub(crate) async fn a_malformed_graph_is_refused_whole(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    assert_eq!(refused_whole(&scene, graph(&[])).await, Code::InvalidInput);
    let twice: &[(&str, &[&str])] = &[("a", &[]), ("a", &[])];
    assert_eq!(refused_whole(&scene, graph(twice)).await, Code::InvalidInput);
    let double: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a", "a"])];
    assert_eq!(
        refused_whole(&scene, graph(double)).await,
        Code::DependencyAlreadyExists
    );
    let mut nowhere = graph(&[("a", &[])]);
    nowhere.edges.push(edge("a", "nobody"));
    assert_eq!(refused_whole(&scene, nowhere).await, Code::ExecutionNotInFlow);
    let mut unreachable = graph(&[("a", &[]), ("b", &["a"])]);
    let two = EdgeGroupPolicy::Quorum {
        k: 2,
        on_satisfied: OnSatisfied::LetRun,
    };
    unreachable.members[1].submission.edge_group_policy = Some(two);
    assert_eq!(refused_whole(&scene, unreachable).await, Code::InvalidInput);
}

pub(crate) async fn a_graph_with_a_bad_member_is_refused_whole(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let mut important = graph(&[("good", &[]), ("bad", &[])]);
    important.members[1].submission.priority = 9_001;
    assert_eq!(refused_whole(&scene, important).await, Code::InvalidInput);
    let mut penniless = graph(&[("good", &[]), ("bad", &[])]);
    penniless.members[1].submission = under(BudgetId::from_uuid(fresh()));
    assert_eq!(refused_whole(&scene, penniless).await, Code::BudgetNotFound);
}

pub(crate) async fn a_part_has_at_most_1_000_members(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let mut large = graph(&[]);
    large.members = (0..1_001).map(|n| graph_member(&format!("m{n}"))).collect();
    assert_eq!(refused_whole(&scene, large).await, Code::BatchTooLarge);
}

pub(crate) async fn a_part_has_at_most_10_000_edges(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let names: Vec<String> = (0..150).map(|n| format!("m{n}")).collect();
    let mut dense = graph(&[]);
    dense.members = names.iter().map(|name| graph_member(name)).collect();
    let pairs = (0..150).flat_map(|to| (0..to).map(move |from| (from, to)));
    dense.edges = pairs
        .map(|(from, to)| edge(&names[from], &names[to]))
        .take(10_001)
        .collect();
    assert_eq!(refused_whole(&scene, dense).await, Code::BatchTooLarge);
}

pub(crate) async fn an_open_flow_takes_no_graph(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow_id = FlowId::from_uuid(fresh());
    scene.build(named(flow_id, &[("a", &[])])).await;
    let answer = scene.fabric.create_flow_graph(named(flow_id, &[("b", &["a"])])).await;
    assert_eq!(refused(answer), Code::AlreadyExists);
}

fn named(flow_id: FlowId, members: &[(&str, &[&str])]) -> FlowGraph {
    let mut graph = graph(members);
    graph.flow.flow_id = Some(flow_id);
    graph
}

/// Why a graph was refused; nothing of it is there afterwards.
async fn refused_whole(scene: &Scene<'_>, mut graph: FlowGraph) -> Code {
    let flow_id = FlowId::from_uuid(fresh());
    graph.flow.flow_id = Some(flow_id);
    let code = refused(scene.fabric.create_flow_graph(graph).await);
    assert_eq!(refused(scene.fabric.get_flow(flow_id).await), Code::FlowNotFound);
    assert!(scene.try_claim(WORKER).await.is_none());
    code
}
