//! Dependencies between members.

use std::sync::Arc;

use ff_core::command::claim::Task;
use ff_core::command::flow::{Applied, ApplyDependency, StageDependencyEdge, WaitChildren, WaitedChildren};
use ff_core::command::lease::Completed;
use ff_core::command::page::PageRequest;
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::{EdgeId, ExecutionId, FlowId};
use ff_core::record::{CancelFlowPolicy, DependencyKind, EdgeState};
use ff_core::state::{BlockingReason, EligibilityState, PublicState};

use crate::Harness;
use crate::scene::{Scene, WORKER, all, at_once, beside, dependency, fresh, into_flow, refused, retrying, submission};

pub(crate) async fn a_member_that_depends_on_another_waits_for_it(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let parent = scene.join(flow, &[]).await;
    let child = scene.join(flow, &[parent]).await;
    let vector = scene.vector(child).await;
    assert_eq!(vector.public_state, PublicState::WaitingChildren);
    assert_eq!(vector.eligibility_state, EligibilityState::BlockedByDependencies);
    assert_eq!(vector.blocking_reason, BlockingReason::WaitingForChildren);
    let task = scene.claim(WORKER).await;
    assert_eq!(task.execution_id, parent);
    scene.finish(&task).await;
    assert_eq!(scene.claim(WORKER).await.execution_id, child);
}

pub(crate) async fn a_staged_dependency_counts_once_it_is_applied(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (flow, [parent, child]) = pair(&scene).await;
    let later = StageDependencyEdge {
        apply: false,
        ..dependency(parent, child)
    };
    let staged = scene.fabric.stage_dependency_edge(On::new(flow, later)).await.unwrap();
    assert_eq!(scene.state(child).await, PublicState::Waiting);
    let apply = || {
        scene.fabric.apply_dependency_to_child(On::new(
            flow,
            ApplyDependency {
                edge_id: staged.edge_id,
            },
        ))
    };
    assert_eq!(apply().await.unwrap(), Applied::Applied { unsatisfied_count: 1 });
    assert_eq!(scene.state(child).await, PublicState::WaitingChildren);
    assert_eq!(apply().await.unwrap(), Applied::AlreadyApplied);
}

pub(crate) async fn an_unknown_edge_is_not_found(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let unknown = On::new(
        flow,
        ApplyDependency {
            edge_id: EdgeId::from_uuid(fresh()),
        },
    );
    let answer = scene.fabric.apply_dependency_to_child(unknown).await;
    assert_eq!(refused(answer), Code::EdgeNotFound);
}

pub(crate) async fn every_edge_moves_the_graph_revision(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (flow, [a, b]) = pair(&scene).await;
    let c = scene.join(flow, &[]).await;
    let before = scene.fabric.get_flow(flow).await.unwrap().graph_revision;
    let first = scene.depend(flow, a, b).await.unwrap();
    assert_eq!(first.graph_revision, before + 1);
    let expecting = |revision| StageDependencyEdge {
        expected_graph_revision: Some(revision),
        ..dependency(b, c)
    };
    let answer = scene
        .fabric
        .stage_dependency_edge(On::new(flow, expecting(before)))
        .await;
    assert_eq!(refused(answer), Code::StaleGraphRevision);
    let second = scene
        .fabric
        .stage_dependency_edge(On::new(flow, expecting(before + 1)))
        .await;
    assert_eq!(second.unwrap().graph_revision, before + 2);
}

pub(crate) async fn a_cycle_is_refused_however_long(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let mut members = vec![scene.join(flow, &[]).await];
    for _ in 0..4 {
        let upstream = members[members.len() - 1];
        members.push(scene.join(flow, &[upstream]).await);
    }
    let answer = scene.depend(flow, members[1], members[0]).await;
    assert_eq!(refused(answer), Code::CycleDetected);
    let answer = scene.depend(flow, members[4], members[0]).await;
    assert_eq!(refused(answer), Code::CycleDetected);
    assert!(scene.depend(flow, members[0], members[4]).await.is_ok());
}

pub(crate) async fn edges_staged_at_once_close_no_cycle(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (flow, [a, b]) = pair(&scene).await;
    let staged = [(a, b), (b, a)].map(|(upstream, downstream)| {
        let fabric = Arc::clone(&scene.fabric);
        let edge = On::new(flow, dependency(upstream, downstream));
        async move { fabric.stage_dependency_edge(edge).await }
    });
    let answers = at_once(staged).await.into_iter();
    let (staged, refusals): (Vec<_>, Vec<_>) = answers.partition(Result::is_ok);
    assert_eq!((staged.len(), refusals.len()), (1, 1));
    assert_eq!(refused(refusals.into_iter().next().unwrap()), Code::CycleDetected);
}

pub(crate) async fn a_member_cannot_depend_on_itself(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (flow, [a, _]) = pair(&scene).await;
    assert_eq!(refused(scene.depend(flow, a, a).await), Code::SelfReferencingEdge);
    let id = beside(a);
    let own = CreateExecution {
        execution_id: Some(id),
        ..into_flow(flow, &[id])
    };
    assert_eq!(
        refused(scene.fabric.create_execution(own).await),
        Code::SelfReferencingEdge
    );
}

pub(crate) async fn both_ends_are_members_of_the_flow(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (flow, [a, _]) = pair(&scene).await;
    let solo = CreateExecution {
        execution_id: Some(beside(a)),
        ..submission()
    };
    let solo = scene.submit(solo).await;
    assert_eq!(refused(scene.depend(flow, a, solo).await), Code::ExecutionNotInFlow);
    assert_eq!(refused(scene.depend(flow, solo, a).await), Code::ExecutionNotInFlow);
    let answer = scene.fabric.create_execution(into_flow(flow, &[solo])).await;
    assert_eq!(refused(answer), Code::ExecutionNotInFlow);
}

pub(crate) async fn a_member_depends_on_another_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (flow, [a, b]) = pair(&scene).await;
    scene.depend(flow, a, b).await.unwrap();
    assert_eq!(refused(scene.depend(flow, a, b).await), Code::DependencyAlreadyExists);
    let twice = into_flow(flow, &[a, a]);
    let answer = scene.fabric.create_execution(twice).await;
    assert_eq!(refused(answer), Code::DependencyAlreadyExists);
}

pub(crate) async fn an_edge_with_a_given_id_is_staged_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (flow, [a, b]) = pair(&scene).await;
    let edge = StageDependencyEdge {
        edge_id: Some(EdgeId::from_uuid(fresh())),
        ..dependency(a, b)
    };
    let first = scene
        .fabric
        .stage_dependency_edge(On::new(flow, edge.clone()))
        .await
        .unwrap();
    let again = scene
        .fabric
        .stage_dependency_edge(On::new(flow, edge.clone()))
        .await
        .unwrap();
    assert_eq!(again, first);
    let other = StageDependencyEdge {
        dependency_kind: DependencyKind::AnyTerminal,
        ..edge
    };
    let answer = scene.fabric.stage_dependency_edge(On::new(flow, other)).await;
    assert_eq!(refused(answer), Code::AlreadyExists);
}

pub(crate) async fn a_closed_flow_takes_no_edges(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (flow, [a, b]) = pair(&scene).await;
    scene.cancel_flow(flow, CancelFlowPolicy::FlowOnly).await.unwrap();
    assert_eq!(refused(scene.depend(flow, a, b).await), Code::FlowAlreadyTerminal);
}

pub(crate) async fn an_upstream_that_has_ended_resolves_at_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let done = scene.running(into_flow(flow, &[])).await;
    scene.finish(&done).await;
    let child = scene.join(flow, &[done.execution_id]).await;
    assert_eq!(scene.state(child).await, PublicState::Waiting);
    let broken = scene.submit(urgent(into_flow(flow, &[]))).await;
    let task = scene.claim(WORKER).await;
    assert_eq!(task.execution_id, broken);
    scene.break_down(&task).await;
    scene.depend(flow, broken, child).await.unwrap();
    assert_eq!(scene.state(child).await, PublicState::Skipped, "it never ran");
}

pub(crate) async fn a_member_that_ran_fails_when_its_dependency_is_impossible(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let broken = scene.running(into_flow(flow, &[])).await;
    scene.break_down(&broken).await;
    let child = scene.running(into_flow(flow, &[])).await;
    scene.release(&child).await.unwrap();
    scene
        .depend(flow, broken.execution_id, child.execution_id)
        .await
        .unwrap();
    let view = scene.view(child.execution_id).await;
    assert_eq!(view.state.public_state, PublicState::Failed);
    assert_eq!(view.failure.unwrap().reason, "dependency_impossible");
}

pub(crate) async fn an_ended_member_waits_for_nothing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (flow, [parent, child]) = pair(&scene).await;
    scene.cancel(child).await.unwrap();
    let answer = scene.depend(flow, parent, child).await;
    assert_eq!(refused(answer), Code::ExecutionNotEligible);
}

pub(crate) async fn any_end_satisfies_who_asks_for_any(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (flow, [parent, child]) = pair(&scene).await;
    let any = StageDependencyEdge {
        dependency_kind: DependencyKind::AnyTerminal,
        ..dependency(parent, child)
    };
    scene.fabric.stage_dependency_edge(On::new(flow, any)).await.unwrap();
    scene.cancel(parent).await.unwrap();
    scene.settle().await;
    assert_eq!(scene.claim(WORKER).await.execution_id, child);
}

pub(crate) async fn a_running_member_waits_for_what_it_spawned(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let parent = scene.held(into_flow(flow, &[])).await;
    let child = scene.join(flow, &[]).await;
    scene.depend(flow, child, parent.execution_id).await.unwrap();
    assert_eq!(
        scene.state(parent.execution_id).await,
        PublicState::Active,
        "it goes on"
    );
    assert_eq!(wait(&scene, &parent).await.unwrap(), WaitedChildren::Waiting);
    assert_eq!(
        wait(&scene, &parent).await.unwrap(),
        WaitedChildren::Waiting,
        "repeated"
    );
    assert_eq!(scene.state(parent.execution_id).await, PublicState::WaitingChildren);
    let task = scene.claim(WORKER).await;
    assert_eq!(task.execution_id, child);
    scene.finish(&task).await;
    let again = scene.claim(WORKER).await;
    assert_eq!(again.fence.attempt_id, parent.fence.attempt_id);
}

pub(crate) async fn waiting_for_what_holds_keeps_the_lease(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    assert_eq!(wait(&scene, &task).await.unwrap(), WaitedChildren::AlreadySatisfied);
    assert_eq!(scene.complete(&task).await.unwrap(), Completed::Now);
}

pub(crate) async fn waiting_for_the_impossible_fails_without_a_retry(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let parent = scene
        .held(CreateExecution {
            flow_id: Some(flow),
            ..retrying(3)
        })
        .await;
    let child = scene.running(into_flow(flow, &[])).await;
    scene
        .depend(flow, child.execution_id, parent.execution_id)
        .await
        .unwrap();
    scene.break_down(&child).await;
    assert_eq!(
        wait(&scene, &parent).await.unwrap(),
        WaitedChildren::DependencyImpossible
    );
    assert_eq!(scene.state(parent.execution_id).await, PublicState::Failed);
    let page = scene
        .fabric
        .list_attempts(On::new(parent.execution_id, all()))
        .await
        .unwrap();
    assert_eq!(page.items.len(), 1);
}

pub(crate) async fn edges_are_listed_with_their_state(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[]), ("b", &["a"]), ("c", &["a", "b"])]).await;
    let a = scene.claim(WORKER).await;
    scene.finish(&a).await;
    let (mut edges, mut cursor) = (Vec::new(), None);
    loop {
        let page = PageRequest { cursor, limit: Some(2) };
        let page = scene.fabric.list_edges(On::new(graph.flow_id, page)).await.unwrap();
        edges.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let satisfied = edges.iter().filter(|edge| edge.state == EdgeState::Satisfied);
    assert!(satisfied.clone().all(|edge| edge.upstream == graph.member("a")));
    assert_eq!((edges.len(), satisfied.count()), (3, 2));
}

async fn wait(scene: &Scene<'_>, task: &Task) -> Result<WaitedChildren> {
    let command = WaitChildren {
        fence: Some(task.fence),
        ..WaitChildren::default()
    };
    scene.fabric.wait_children(On::new(task.execution_id, command)).await
}

/// A flow with two members that have nothing to do with each other.
async fn pair(scene: &Scene<'_>) -> (FlowId, [ExecutionId; 2]) {
    let flow = scene.empty_flow().await;
    (flow, [scene.join(flow, &[]).await, scene.join(flow, &[]).await])
}

fn urgent(command: CreateExecution) -> CreateExecution {
    CreateExecution { priority: 9, ..command }
}
