//! The graph of a flow in one answer.

use ff_core::command::claim::Task;
use ff_core::command::flow::{CreateFlowWith, FlowGraph};
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::ExecutionKind;
use ff_core::payload::Payload;
use ff_core::record::HistorySubject;
use ff_core::view::{EventFilter, FlowGraphView, ListGraphMembers, ReadEvents};

use crate::Harness;
use crate::scene::{
    MINUTE, SECOND, Scene, WORKER, dependency, edge, flow_definition, fresh, graph_member, into_flow, promptly, refused,
};

pub(crate) async fn a_flow_is_shown_with_every_member_and_edge(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene
        .flow(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"]), ("e", &[])])
        .await;
    scene.after(SECOND).await;
    let [one, other] = [scene.claim(WORKER).await, scene.claim(WORKER).await];
    let (first, alone) = match one.execution_id == graph.member("a") {
        true => (one, other),
        false => (other, one),
    };
    assert_eq!(alone.execution_id, graph.member("e"));
    scene.after(SECOND).await;
    scene.finish(&first).await;
    let view = shown(&scene, graph.flow_id).await;
    let flow = scene.fabric.get_flow(graph.flow_id).await.unwrap();
    assert_eq!(
        (view.graph_revision, view.created_at, view.members),
        (flow.graph_revision, flow.created_at, 5)
    );
    let ids = view.ids.as_ref().unwrap();
    let place = |name: &str| ids.iter().position(|id| *id == graph.member(name)).unwrap();
    let letter = |name: &str| view.states.as_bytes()[place(name)] as char;
    assert_eq!(["a", "b", "c", "d", "e"].map(letter), ['c', 'w', 'w', 'u', 'a']);
    let mut edges = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")].map(|(from, to)| (place(from), place(to)));
    edges.sort_unstable();
    let mut shown_edges = view.edges.clone().unwrap();
    shown_edges.sort_unstable();
    assert_eq!(shown_edges, edges);
    let moments = |apart: &[Option<i64>]| moments(flow.created_at.as_millis().cast_signed(), apart);
    let (started, ended) = (moments(&view.started), moments(&view.ended));
    let of = |id: ExecutionId| scene.view(id);
    let (a, e) = (of(graph.member("a")).await, of(graph.member("e")).await);
    let ended_at = |view: &ff_core::view::ExecutionView| view.completed_at.map(|at| at.as_millis().cast_signed());
    assert!(started[place("a")].is_some() && started[place("e")].is_some() && started[place("b")].is_none());
    assert_eq!((ended[place("a")], ended[place("e")]), (ended_at(&a), ended_at(&e)));
    // Where time passes by itself, a little more of it has.
    let ran = ended[place("a")]
        .zip(started[place("a")])
        .map(|(end, begin)| end - begin);
    assert!(ran.is_some_and(|ran| (1_000..10_000).contains(&ran)), "{ran:?}");
    // Those in the middle play the same part; the one that waits for nothing and nobody waits for is on its own.
    let sizes: Vec<_> = view.classes.iter().map(|class| (class.layer, class.count)).collect();
    assert_eq!(sizes.iter().filter(|class| **class == (1, 2)).count(), 1, "{sizes:?}");
    assert_eq!((view.classes.len(), view.kinds.len(), view.more_edges), (4, 1, false));
}

/// What the time between moments says about the moments.
fn moments(since: i64, apart: &[Option<i64>]) -> Vec<Option<i64>> {
    let mut at = since;
    let mut moment = |apart: i64| {
        at += apart;
        at
    };
    apart.iter().map(|apart| apart.map(&mut moment)).collect()
}

async fn shown(scene: &Scene<'_>, flow: FlowId) -> FlowGraphView {
    scene.fabric.get_flow_graph(flow).await.unwrap()
}

pub(crate) async fn a_flow_of_400_members_is_shown_in_one_answer(harness: &dyn Harness) {
    a_fan_is_shown(harness, 400).await;
}

pub(crate) async fn a_flow_of_2_000_members_is_shown_in_one_answer(harness: &dyn Harness) {
    a_fan_is_shown(harness, 2_000).await;
}

async fn a_fan_is_shown(harness: &dyn Harness, members: usize) {
    let scene = Scene::new(harness);
    let flow = fan(&scene, members).await;
    let view = shown(&scene, flow).await;
    let middle = members - 2;
    let kinds: Vec<_> = view.kinds.iter().map(ExecutionKind::as_str).collect();
    assert_eq!(kinds, ["first", "last", "part"]);
    let classes: Vec<_> = view
        .classes
        .iter()
        .map(|class| (class.kind, class.layer, class.first, class.count))
        .collect();
    let expected = [
        (Some(0), 0, 0, 1),
        (Some(2), 1, 1, middle),
        (Some(1), 2, members - 1, 1),
    ];
    assert_eq!(classes, expected);
    assert_eq!(view.links, [(0, 1, middle), (1, 2, middle)]);
    assert_eq!(view.states, format!("w{}", "u".repeat(members - 1)));
    assert_eq!(view.started, vec![None; members]);
    let ids = view.ids.clone().unwrap();
    assert!(ids[1..=middle].is_sorted() && ids.len() == members);
    assert_eq!(view.edges.as_ref().unwrap().len(), 2 * middle);
    scene.finish(&first_of(&scene, &ids).await).await;
    let after = shown(&scene, flow).await;
    assert_eq!(after.states, format!("c{}u", "w".repeat(middle)));
    assert_eq!((after.classes, after.ids), (view.classes, view.ids));
}

/// The task of the one member that waits for nothing.
async fn first_of(scene: &Scene<'_>, ids: &[ExecutionId]) -> Task {
    let task = scene.claim(WORKER).await;
    assert_eq!(task.execution_id, ids[0]);
    task
}

/// A flow of one member, many of one kind behind it, and one behind all of these.
async fn fan(scene: &Scene<'_>, members: usize) -> FlowId {
    let flow_id = FlowId::from_uuid(fresh());
    let middle: Vec<String> = (2..members).map(|number| format!("m{number}")).collect();
    // The ends of an edge stand in its part, so both ends come again with each.
    let chunks = middle.chunks(998).enumerate();
    let last = chunks.len() - 1;
    let ends = [("first", "first"), ("last", "last")].map(|(name, kind)| of_kind(name, kind));
    for (number, names) in chunks {
        let edges = names.iter().flat_map(|name| [edge("first", name), edge(name, "last")]);
        let graph = FlowGraph {
            flow: CreateFlowWith {
                flow_id: Some(flow_id),
                definition: flow_definition(),
            },
            members: ends
                .iter()
                .cloned()
                .chain(names.iter().map(|name| of_kind(name, "part")))
                .collect(),
            edges: edges.collect(),
            open: number == last,
        };
        scene.fabric.create_flow_graph(graph).await.unwrap();
    }
    scene.settle().await;
    flow_id
}

fn of_kind(key: &str, kind: &str) -> ff_core::command::flow::GraphMember {
    let kind = ExecutionKind::parse(kind).unwrap();
    ff_core::command::flow::GraphMember {
        submission: CreateExecution::new(kind, Payload::default()),
        ..graph_member(key)
    }
}

pub(crate) async fn the_members_of_a_class_are_named_in_order(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = fan(&scene, 30).await;
    let view = shown(&scene, flow).await;
    let ids = view.ids.unwrap();
    let ask = |class, from, limit| {
        let ask = ListGraphMembers { class, from, limit };
        scene.fabric.list_graph_members(On::new(flow, ask))
    };
    let some = ask(1, 5, Some(10)).await.unwrap();
    assert_eq!(
        (some.graph_revision, some.members, some.count),
        (view.graph_revision, 30, 28)
    );
    assert_eq!(some.ids, ids[6..16]);
    assert_eq!(ask(1, 20, None).await.unwrap().ids, ids[21..29]);
    assert!(ask(1, 28, None).await.unwrap().ids.is_empty());
    assert_eq!(refused(ask(3, 0, None).await), Code::InvalidInput);
    assert_eq!(refused(ask(0, 0, Some(0)).await), Code::InvalidInput);
}

pub(crate) async fn a_graph_that_grows_is_shown_as_it_is_now(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let nobody = shown(&scene, flow).await;
    assert_eq!(
        (nobody.members, nobody.classes.len(), nobody.states.as_str()),
        (0, 0, "")
    );
    let a = scene.join(flow, &[]).await;
    let b = scene.submit(into_flow(flow, &[])).await;
    let apart = shown(&scene, flow).await;
    assert_eq!((apart.members, apart.classes.len()), (2, 1));
    scene.depend(flow, a, b).await.unwrap();
    let linked = shown(&scene, flow).await;
    assert!(linked.graph_revision > apart.graph_revision);
    assert_eq!(linked.ids.as_deref(), Some(&[a, b][..]));
    assert_eq!(
        (linked.edges.as_deref(), linked.states.as_str()),
        (Some(&[(0, 1)][..]), "wu")
    );
    let again = scene
        .fabric
        .stage_dependency_edge(On::new(flow, dependency(a, b)))
        .await;
    assert_eq!(refused(again), Code::DependencyAlreadyExists);
    assert_eq!(shown(&scene, flow).await.links, linked.links);
}

pub(crate) async fn what_happens_after_a_graph_was_read_is_told(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[]), ("b", &["a"])]).await;
    scene.after(MINUTE).await;
    let view = shown(&scene, graph.flow_id).await;
    let task = scene.claim(WORKER).await;
    scene.finish(&task).await;
    let mut told = Vec::new();
    let mut cursor = view.cursor;
    // A store may hold lines back as long as somebody writes.
    let read_on = async {
        while told.len() < 2 {
            let request = ReadEvents {
                cursor: Some(cursor.clone()),
                filter: EventFilter {
                    flow_id: Some(graph.flow_id),
                    ..EventFilter::default()
                },
                ..ReadEvents::default()
            };
            let read = scene.fabric.events(request).await.unwrap();
            told.extend(
                read.events
                    .into_iter()
                    .map(|event| (event.line.subject, event.line.what.as_str())),
            );
            cursor = read.next;
        }
    };
    promptly(read_on).await;
    let a = HistorySubject::Execution(graph.member("a"));
    assert_eq!(told[..2], [(a, "claimed"), (a, "completed")]);
}

pub(crate) async fn a_flow_that_is_not_there_is_not_shown(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = FlowId::from_uuid(fresh());
    assert_eq!(refused(scene.fabric.get_flow_graph(flow).await), Code::FlowNotFound);
    let members = On::new(flow, ListGraphMembers::default());
    assert_eq!(
        refused(scene.fabric.list_graph_members(members).await),
        Code::FlowNotFound
    );
}
