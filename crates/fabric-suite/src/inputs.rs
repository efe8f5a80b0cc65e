//! Results of upstreams that their children are handed.

use ff_core::command::claim::{OmittedInput, Task};
use ff_core::command::flow::FlowGraph;
use ff_core::command::lease::{Complete, Completed};
use ff_core::command::submit::DependsOn;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::DataRef;
use ff_core::payload::Payload;
use ff_core::record::DependencyKind;
use serde_json::json;

use crate::Harness;
use crate::scene::{MINUTE, Scene, WORKER, dependency, fresh, graph, into_flow, refused, submission};

pub(crate) async fn a_child_is_handed_the_results_it_asked_for(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.build(handing_over(&["answer"])).await;
    let parent = scene.claim(WORKER).await;
    scene.finish(&parent).await;
    let child = scene.claim(WORKER).await;
    let done = Payload::json(&json!({ "done": true }));
    assert_eq!(child.inputs, [(name("answer"), done)].into());
    assert_eq!(child.input, submission().input, "its own input is untouched");
}

pub(crate) async fn a_child_is_handed_the_last_success_of_its_upstream(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.build(handing_over(&["answer"])).await;
    let upstream = graph.member("answer");
    let first = scene.claim(WORKER).await;
    succeed(&scene, &first, "first").await;
    for _ in 0..2 {
        scene.hold(graph.member("child")).await.unwrap();
        scene.replay(upstream).await.unwrap();
        let again = scene.claim(WORKER).await;
        assert_eq!(again.execution_id, upstream);
        scene.break_down(&again).await;
        scene.fabric.unhold(graph.member("child")).await.unwrap();
        let child = scene.claim(WORKER).await;
        assert_eq!(child.execution_id, graph.member("child"));
        assert_eq!(child.inputs, [(name("answer"), Payload::binary("first"))].into());
        scene.release(&child).await.unwrap();
    }
    scene.hold(graph.member("child")).await.unwrap();
    scene.replay(upstream).await.unwrap();
    let last = scene.claim(WORKER).await;
    succeed(&scene, &last, "second").await;
    scene.fabric.unhold(graph.member("child")).await.unwrap();
    let child = scene.claim(WORKER).await;
    assert_eq!(child.inputs, [(name("answer"), Payload::binary("second"))].into());
}

pub(crate) async fn what_a_child_is_not_handed_is_named_and_can_be_read(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let names: Vec<String> = (0..9).map(|n| format!("up{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let graph = scene.build(handing_over(&names)).await;
    let large = "x".repeat(1024 * 1024);
    for _ in &names {
        let task = scene.claim(WORKER).await;
        succeed(&scene, &task, &large).await;
    }
    let child = scene.claim(WORKER).await;
    assert_eq!(child.execution_id, graph.member("child"));
    assert_eq!(child.inputs.len(), 8);
    let last = graph.member("up8");
    let omitted = OmittedInput {
        name: name("up8"),
        execution_id: last,
    };
    assert_eq!(child.inputs_omitted, [omitted]);
    assert_eq!(read(&scene, last, &child).await.unwrap().len(), large.len());
}

pub(crate) async fn a_holder_reads_the_last_success_of_its_upstreams_only(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.build(handing_over(&["answer"])).await;
    let upstream = graph.member("answer");
    let first = scene.claim(WORKER).await;
    succeed(&scene, &first, "first").await;
    let child = scene.claim_and_keep().await;
    scene.replay(upstream).await.unwrap();
    let again = scene.claim(WORKER).await;
    scene.break_down(&again).await;
    assert_eq!(refused(scene.result(upstream).await), Code::ResultNotAvailable);
    let handed = read(&scene, upstream, &child).await.unwrap();
    assert_eq!(handed, Payload::binary("first"));

    let stranger = scene.running(into_flow(graph.flow_id, &[])).await;
    assert_eq!(refused(read(&scene, upstream, &stranger).await), Code::Forbidden);
    scene.complete(&stranger).await.unwrap();
    let answer = read(&scene, stranger.execution_id, &child).await;
    assert_eq!(refused(answer), Code::Forbidden);
    scene.revoke(child.execution_id).await.unwrap();
    assert_eq!(refused(read(&scene, upstream, &child).await), Code::LeaseRevoked);
}

pub(crate) async fn a_lease_that_only_reads_is_used(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.build(handing_over(&["answer"])).await;
    let first = scene.claim(WORKER).await;
    succeed(&scene, &first, "first").await;
    let child = scene.claim(WORKER).await;
    read(&scene, graph.member("answer"), &child).await.unwrap();
    scene.after(MINUTE).await;
    assert_eq!(scene.view(child.execution_id).await.counts.reclaims, 1);
}

/// Reads the result of an upstream as the holder of a task.
async fn read(scene: &Scene<'_>, upstream: ExecutionId, task: &Task) -> Result<Payload> {
    scene.holding(task).await.result(upstream).await
}

pub(crate) async fn a_child_has_one_input_of_a_name(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let mut both = handing_over(&["one", "two"]);
    both.edges[1].data_passing_ref = Some(name("one"));
    assert_eq!(refused(scene.fabric.create_flow_graph(both).await), Code::InvalidInput);

    let flow = scene.empty_flow().await;
    let (one, two) = (scene.join(flow, &[]).await, scene.join(flow, &[]).await);
    let mut member = into_flow(flow, &[]);
    member.depends_on = [one, two]
        .map(|upstream| DependsOn {
            edge_id: None,
            upstream,
            dependency_kind: DependencyKind::SuccessOnly,
            data_passing_ref: Some(name("one")),
        })
        .to_vec();
    assert_eq!(refused(scene.fabric.create_execution(member).await), Code::InvalidInput);

    let child = scene.join(flow, &[]).await;
    let called = |upstream, called: &str| {
        let mut edge = dependency(upstream, child);
        edge.data_passing_ref = Some(name(called));
        On::new(flow, edge)
    };
    scene.fabric.stage_dependency_edge(called(one, "one")).await.unwrap();
    let answer = scene.fabric.stage_dependency_edge(called(two, "one")).await;
    assert_eq!(refused(answer), Code::InvalidInput);
    scene.fabric.stage_dependency_edge(called(two, "two")).await.unwrap();
}

pub(crate) async fn a_later_part_gives_a_child_no_second_input_of_a_name(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow_id = FlowId::from_uuid(fresh());
    let part = |upstream: &str| {
        let mut part = graph(&[(upstream, &[]), ("child", &[upstream])]);
        part.flow.flow_id = Some(flow_id);
        part.edges[0].data_passing_ref = Some(name("answer"));
        FlowGraph { open: false, ..part }
    };
    scene.build(part("one")).await;
    let answer = scene.fabric.create_flow_graph(part("two")).await;
    assert_eq!(refused(answer), Code::InvalidInput);
    assert_eq!(scene.fabric.get_flow(flow_id).await.unwrap().counts.members, 2);
}

/// A child of these upstreams, each of which hands its result over under its own name. The child runs last.
fn handing_over(names: &[&str]) -> FlowGraph {
    let mut members: Vec<(&str, &[&str])> = names.iter().map(|name| (*name, &[][..])).collect();
    members.push(("child", names));
    let mut graph = graph(&members);
    for edge in &mut graph.edges {
        edge.data_passing_ref = Some(name(&edge.upstream));
    }
    graph
}

fn name(name: &str) -> DataRef {
    DataRef::parse(name).unwrap()
}

/// Completes a task with these bytes, and what follows from it is done.
async fn succeed(scene: &Scene<'_>, task: &Task, result: &str) {
    let complete = Complete {
        fence: Some(task.fence),
        result: Some(Payload::binary(result.to_owned())),
        ..Complete::default()
    };
    let completed = scene.fabric.complete(On::new(task.execution_id, complete)).await;
    assert_eq!(completed.unwrap(), Completed::Now);
    scene.settle().await;
}
