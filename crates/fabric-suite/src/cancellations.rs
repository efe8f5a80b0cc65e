//! Cancelling and sealing flows.

use std::collections::BTreeSet;

use ff_core::command::claim::Task;
use ff_core::command::flow::{CancelFlow, CancelProgress, WaitChildren, WaitedChildren};
use ff_core::command::lease::{DelayUntil, Failed, LetGo};
use ff_core::command::operator::Revoked;
use ff_core::command::submit::CreateExecution;
use ff_core::command::waitpoint::SuspendedTask;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::FlowId;
use ff_core::machine::flow::FlowState;
use ff_core::record::{CancelFlowPolicy, GateState};
use ff_core::state::PublicState;
use ff_core::time::Duration;

use crate::Harness;
use crate::scene::{HOUR, Scene, WORKER, into_flow, refused, retrying, waiting};

pub(crate) async fn cancel_all_reaches_members_in_every_state(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("running", &[]), ("blocked", &["running"])]).await;
    let running = scene.claim(WORKER).await;
    let (asleep, _) = scene.asleep(into_flow(graph.flow_id, &[])).await;
    let waiting = scene.join(graph.flow_id, &[]).await;
    scene
        .cancel_flow(graph.flow_id, CancelFlowPolicy::CancelAll)
        .await
        .unwrap();
    assert!(
        scene.try_claim(WORKER).await.is_none(),
        "the gate is closed when the call returns"
    );
    scene.settle().await;
    for id in [
        running.execution_id,
        graph.member("blocked"),
        asleep.execution_id,
        waiting,
    ] {
        assert_eq!(scene.state(id).await, PublicState::Cancelled);
    }
    assert_eq!(refused(scene.complete(&running).await), Code::ExecutionNotActive);
    assert_eq!(
        scene.fabric.get_flow(graph.flow_id).await.unwrap().state,
        FlowState::Cancelled
    );
}

pub(crate) async fn a_cancellation_that_waits_has_reached_every_member(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[]), ("b", &["a"])]).await;
    let cancel = CancelFlow {
        reason: "enough".to_owned(),
        policy: CancelFlowPolicy::CancelAll,
        wait: Duration::from_secs(30),
    };
    let answer = scene.fabric.cancel_flow(On::new(graph.flow_id, cancel)).await.unwrap();
    assert_eq!(answer.cancelled.progress, CancelProgress::Cancelled);
    assert_eq!(answer.cancelled.member_count, 2);
    let named: BTreeSet<_> = answer.member_execution_ids.into_iter().collect();
    assert_eq!(named, graph.members.values().copied().collect());
    for member in graph.members.values() {
        let view = scene.view(*member).await;
        assert_eq!(view.state.public_state, PublicState::Cancelled);
    }
}

pub(crate) async fn a_cancellation_waits_at_most_30_seconds(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[])]).await;
    let cancel = CancelFlow {
        reason: "enough".to_owned(),
        policy: CancelFlowPolicy::CancelAll,
        wait: Duration::from_millis(30_001),
    };
    let answer = scene.fabric.cancel_flow(On::new(graph.flow_id, cancel)).await;
    assert_eq!(refused(answer), Code::InvalidInput);
    assert_eq!(scene.claim(WORKER).await.execution_id, graph.member("a"));
}

pub(crate) async fn a_repeated_cancellation_gets_the_first_answer(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[])]).await;
    let first = scene
        .cancel_flow(graph.flow_id, CancelFlowPolicy::CancelAll)
        .await
        .unwrap();
    assert_eq!(first.cancelled.policy, CancelFlowPolicy::CancelAll);
    scene.settle().await;
    let other = CancelFlow {
        reason: "another".to_owned(),
        policy: CancelFlowPolicy::FlowOnly,
        wait: Duration::ZERO,
    };
    let again = scene.fabric.cancel_flow(On::new(graph.flow_id, other)).await.unwrap();
    assert_eq!(
        (again.cancelled.policy, again.cancelled.reason.as_str()),
        (CancelFlowPolicy::CancelAll, "enough")
    );
    assert_eq!(again.cancelled.member_count, 1);
}

pub(crate) async fn a_flow_without_open_members_is_not_cancelled(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let answer = scene.cancel_flow(flow, CancelFlowPolicy::CancelAll).await;
    assert_eq!(refused(answer), Code::FlowAlreadyTerminal);
    let task = scene.running(into_flow(flow, &[])).await;
    scene.finish(&task).await;
    let answer = scene.cancel_flow(flow, CancelFlowPolicy::CancelAll).await;
    assert_eq!(refused(answer), Code::FlowAlreadyTerminal);
    assert_eq!(scene.state(task.execution_id).await, PublicState::Completed);
}

pub(crate) async fn cancel_pending_lets_running_members_finish(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (flow, task) = leaving(&scene).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Active);
    scene.finish(&task).await;
    let counts = scene.fabric.get_flow(flow).await.unwrap().counts;
    assert_eq!(
        (counts.of(PublicState::Completed), counts.of(PublicState::Cancelled)),
        (1, 1)
    );
}

pub(crate) async fn suspended_members_count_as_pending(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let (asleep, _) = scene.asleep(into_flow(flow, &[])).await;
    scene.cancel_flow(flow, CancelFlowPolicy::CancelPending).await.unwrap();
    scene.settle().await;
    assert_eq!(scene.state(asleep.execution_id).await, PublicState::Cancelled);
}

pub(crate) async fn who_gives_its_task_back_is_cancelled(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (_, task) = leaving(&scene).await;
    assert_eq!(scene.release(&task).await.unwrap(), LetGo::Cancelled);
    assert_eq!(scene.release(&task).await.unwrap(), LetGo::Cancelled, "repeated");
    assert_eq!(scene.state(task.execution_id).await, PublicState::Cancelled);
}

pub(crate) async fn who_delays_its_task_is_cancelled(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (_, task) = leaving(&scene).await;
    let delay = DelayUntil {
        fence: Some(task.fence),
        until: task.now + HOUR,
        step: None,
        steps: Vec::new(),
    };
    let answer = scene.fabric.delay(On::new(task.execution_id, delay)).await;
    assert_eq!(answer.unwrap(), LetGo::Cancelled);
}

pub(crate) async fn who_would_be_retried_is_cancelled(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (_, task) = leaving(&scene).await;
    assert_eq!(scene.fail(&task, "transient").await.unwrap(), Failed::Cancelled);
    assert_eq!(scene.state(task.execution_id).await, PublicState::Cancelled);
}

pub(crate) async fn who_suspends_is_cancelled(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (_, task) = leaving(&scene).await;
    let answer = scene.suspend(task.execution_id, waiting(&task)).await;
    assert_eq!(answer.unwrap(), SuspendedTask::Cancelled);
    assert_eq!(scene.state(task.execution_id).await, PublicState::Cancelled);
}

pub(crate) async fn whose_lease_is_revoked_is_cancelled(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (_, task) = leaving(&scene).await;
    assert_eq!(scene.revoke(task.execution_id).await.unwrap(), Revoked::Cancelled);
    assert_eq!(scene.state(task.execution_id).await, PublicState::Cancelled);
}

pub(crate) async fn whose_lease_expires_is_cancelled(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (_, task) = leaving(&scene).await;
    scene.after(HOUR).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Cancelled);
}

pub(crate) async fn who_waits_for_children_is_cancelled(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let task = scene.held(into_flow(flow, &[])).await;
    let child = scene.join(flow, &[]).await;
    scene.depend(flow, child, task.execution_id).await.unwrap();
    scene.cancel_flow(flow, CancelFlowPolicy::CancelPending).await.unwrap();
    let wait = WaitChildren {
        fence: Some(task.fence),
        ..WaitChildren::default()
    };
    let answer = scene.fabric.wait_children(On::new(task.execution_id, wait)).await;
    assert_eq!(answer.unwrap(), WaitedChildren::Cancelled);
}

pub(crate) async fn a_grant_is_worth_nothing_in_a_cancelled_flow(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let member = scene.join(flow, &[]).await;
    let grant = scene.grant(WORKER).await.unwrap();
    scene.cancel_flow(flow, CancelFlowPolicy::CancelAll).await.unwrap();
    assert_eq!(refused(scene.redeem(WORKER, &grant).await), Code::InvalidClaimGrant);
    scene.settle().await;
    assert_eq!(scene.state(member).await, PublicState::Cancelled);
}

pub(crate) async fn a_sealed_flow_lets_its_members_go_on(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[]), ("b", &["a"])]).await;
    let sealed = scene
        .cancel_flow(graph.flow_id, CancelFlowPolicy::FlowOnly)
        .await
        .unwrap();
    assert_eq!(sealed.cancelled.progress, CancelProgress::Cancelled);
    scene.settle().await;
    for name in ["a", "b"] {
        let task = scene.claim(WORKER).await;
        assert_eq!(task.execution_id, graph.member(name));
        scene.finish(&task).await;
    }
    let flow = scene.fabric.get_flow(graph.flow_id).await.unwrap();
    assert_eq!((flow.gate, flow.state), (GateState::Sealed, FlowState::Completed));
}

/// A flow cancelled but for what runs, one member of which runs.
async fn leaving(scene: &Scene<'_>) -> (FlowId, Task) {
    let flow = scene.empty_flow().await;
    let task = scene
        .held(CreateExecution {
            flow_id: Some(flow),
            ..retrying(3)
        })
        .await;
    scene.join(flow, &[]).await;
    scene.cancel_flow(flow, CancelFlowPolicy::CancelPending).await.unwrap();
    scene.settle().await;
    assert!(scene.try_claim(WORKER).await.is_none());
    (flow, task)
}
