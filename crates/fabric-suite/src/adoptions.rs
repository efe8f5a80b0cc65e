//! Executions that were there before the flow they are added to.

use ff_core::command::flow::AddExecution;
use ff_core::command::operator::Changed;
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::record::CancelFlowPolicy;
use ff_core::state::PublicState;
use ff_core::time::Duration;
use serde_json::json;

use crate::Harness;
use crate::scene::{SECOND, Scene, WORKER, beside, refused, submission, with_policy};

pub(crate) async fn a_running_execution_outlives_the_hour_of_its_unopened_flow(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow_with(&[("a", &[])], |_| None, false).await;
    let adopted = CreateExecution {
        execution_id: Some(beside(graph.member("a"))),
        ..submission()
    };
    let task = scene.held(adopted).await;
    adopt(&scene, graph.flow_id, task.execution_id).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Active);
    for _ in 0..3 {
        scene.after(Duration::from_secs(50 * 60)).await;
        scene.keep(&task).await;
    }
    assert_eq!(scene.state(task.execution_id).await, PublicState::Active);
    scene.finish(&task).await;
    scene.after(Duration::from_hours(2)).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Completed);
    assert!(scene.fabric.open_flow(graph.flow_id).await.is_ok());
    scene.settle().await;
    assert_eq!(scene.claim(WORKER).await.execution_id, graph.member("a"));
}

pub(crate) async fn an_unopened_flow_with_something_that_ran_is_not_deleted(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow_with(&[("a", &[])], |_| None, false).await;
    let adopted = CreateExecution {
        execution_id: Some(beside(graph.member("a"))),
        ..submission()
    };
    let task = scene.held(adopted).await;
    adopt(&scene, graph.flow_id, task.execution_id).await;
    scene.release(&task).await.unwrap();
    let answer = scene.fabric.delete_flow(graph.flow_id).await;
    assert_eq!(refused(answer), Code::ExecutionNotTerminal);
    scene
        .cancel_flow(graph.flow_id, CancelFlowPolicy::CancelAll)
        .await
        .unwrap();
    scene.settle().await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Cancelled);
    assert_eq!(scene.fabric.delete_flow(graph.flow_id).await.unwrap(), Changed::Now);
    scene.settle().await;
    scene.after(SECOND).await;
    assert_eq!(refused(scene.fabric.get_flow(graph.flow_id).await), Code::FlowNotFound);
}

pub(crate) async fn an_ended_execution_is_kept_as_long_as_it_or_its_flow_says(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow_with(&[("a", &[])], |_| None, false).await;
    let long = CreateExecution {
        execution_id: Some(beside(graph.member("a"))),
        ..with_policy(&json!({ "retention_ms": 3 * 24 * 3_600_000 }))
    };
    let task = scene.running(long).await;
    scene.finish(&task).await;
    adopt(&scene, graph.flow_id, task.execution_id).await;
    scene.after(Duration::from_hours(2)).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Completed);
    scene.fabric.open_flow(graph.flow_id).await.unwrap();
    scene.settle().await;
    scene.cancel(graph.member("a")).await.unwrap();
    scene.settle().await;
    scene.after(Duration::from_hours(60)).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Completed);
    scene.after(Duration::from_hours(14)).await;
    assert_eq!(refused(scene.fabric.get_flow(graph.flow_id).await), Code::FlowNotFound);
}

pub(crate) async fn an_execution_that_is_kept_for_ever_keeps_its_flow(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let member = scene.join(flow, &[]).await;
    let kept = CreateExecution {
        execution_id: Some(beside(member)),
        ..with_policy(&json!({ "retention_ms": "never" }))
    };
    let kept = scene.submit(kept).await;
    adopt(&scene, flow, kept).await;
    for id in [member, kept] {
        scene.cancel(id).await.unwrap();
    }
    scene.settle().await;
    scene.after(Duration::from_hours(100)).await;
    assert_eq!(scene.state(kept).await, PublicState::Cancelled);
}

async fn adopt(scene: &Scene<'_>, flow: FlowId, id: ExecutionId) {
    scene
        .fabric
        .add_execution_to_flow(On::new(flow, AddExecution { execution_id: id }))
        .await
        .unwrap();
    scene.settle().await;
}
