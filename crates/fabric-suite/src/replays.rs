//! Reopening what has ended.

use ff_core::command::flow::{ReplayExecution, Replayed};
use ff_core::command::lease::{Completed, Failed, UpdateProgress};
use ff_core::command::steps::ProgressNote;
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::machine::flow::FlowState;
use ff_core::payload::Payload;
use ff_core::record::{AttemptKind, CancelFlowPolicy, EdgeGroupPolicy, OnSatisfied};
use ff_core::state::{AttemptState, PublicState};
use serde_json::json;

use crate::Harness;
use crate::scene::{MINUTE, Scene, WORKER, all, graph, refused, request, retrying, submission, with_policy};

pub(crate) async fn a_replayed_execution_runs_again(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.break_down(&task).await;
    assert_eq!(scene.replay(task.execution_id).await.unwrap(), Replayed::Now);
    let view = scene.view(task.execution_id).await;
    assert_eq!(view.state.public_state, PublicState::Waiting);
    assert_eq!(
        view.state.state_vector.attempt_state,
        AttemptState::PendingReplayAttempt
    );
    assert_eq!(view.counts.replays, 1);
    let again = scene.claim(WORKER).await;
    assert_eq!((again.attempt_index, again.attempt_kind), (1, AttemptKind::Replay));
    assert!(again.fence.lease_epoch > task.fence.lease_epoch);
}

pub(crate) async fn only_what_has_ended_is_replayed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    assert_eq!(
        refused(scene.replay(task.execution_id).await),
        Code::ExecutionNotTerminal
    );
    assert_eq!(scene.complete(&task).await.unwrap(), Completed::Now);
}

pub(crate) async fn an_execution_is_replayed_as_often_as_its_policy_allows(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit(with_policy(&json!({ "max_replay_count": 1 }))).await;
    scene.cancel(id).await.unwrap();
    scene.replay(id).await.unwrap();
    scene.cancel(id).await.unwrap();
    assert_eq!(refused(scene.replay(id).await), Code::MaxReplaysExhausted);
    assert_eq!(scene.state(id).await, PublicState::Cancelled);
}

pub(crate) async fn a_repeated_request_replays_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    scene.cancel(id).await.unwrap();
    let replay = ReplayExecution {
        request_id: request("replay-1"),
        ..ReplayExecution::default()
    };
    let replay = On::new(id, replay);
    let first = scene.fabric.replay_execution(replay.clone()).await;
    assert_eq!(first.unwrap(), Replayed::Now);
    scene.cancel(id).await.unwrap();
    let again = scene.fabric.replay_execution(replay).await;
    assert_eq!(again.unwrap(), Replayed::Already);
    assert_eq!(scene.state(id).await, PublicState::Cancelled);
}

pub(crate) async fn a_replay_starts_its_counts_again(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(retrying(1)).await;
    scene.fail(&task, "transient").await.unwrap();
    let retry = scene.claim_and_keep().await;
    scene.revoke(retry.execution_id).await.unwrap();
    let last = scene.claim(WORKER).await;
    scene.break_down(&last).await;
    scene.replay(task.execution_id).await.unwrap();
    let counts = scene.view(task.execution_id).await.counts;
    assert_eq!((counts.retries, counts.reclaims, counts.replays), (0, 0, 1));
    let replayed = scene.claim(WORKER).await;
    assert_eq!(replayed.attempt_index, 3, "attempts are kept");
    let failed = scene.fail(&replayed, "transient").await.unwrap();
    assert!(matches!(failed, Failed::RetryScheduled { .. }));
}

pub(crate) async fn the_old_result_stays_until_a_new_end_replaces_it(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.complete(&task).await.unwrap();
    scene.replay(task.execution_id).await.unwrap();
    let old = scene.result(task.execution_id).await.unwrap();
    assert_eq!(old, Payload::json(&json!({ "done": true })));
    let again = scene.claim(WORKER).await;
    scene.break_down(&again).await;
    let answer = scene.result(task.execution_id).await;
    assert_eq!(refused(answer), Code::ResultNotAvailable);
}

pub(crate) async fn a_result_does_not_come_back_with_another_replay(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let id = task.execution_id;
    scene.complete(&task).await.unwrap();
    let bytes = scene.view(id).await.result_bytes;
    scene.replay(id).await.unwrap();
    assert_eq!(scene.view(id).await.result_bytes, bytes);
    let again = scene.claim(WORKER).await;
    scene.break_down(&again).await;
    scene.replay(id).await.unwrap();
    assert_eq!(refused(scene.result(id).await), Code::ResultNotAvailable);
    assert_eq!(scene.view(id).await.result_bytes, None);
    let last = scene.claim(WORKER).await;
    assert_eq!(refused(scene.result(id).await), Code::ResultNotAvailable);
    scene.complete(&last).await.unwrap();
    assert!(scene.result(id).await.is_ok());
}

pub(crate) async fn a_replay_shows_no_progress_of_the_run_before(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let progress = UpdateProgress {
        fence: Some(task.fence),
        progress: ProgressNote {
            pct: Some(100),
            message: Some("done".to_owned()),
        },
    };
    scene
        .fabric
        .update_progress(On::new(task.execution_id, progress))
        .await
        .unwrap();
    scene.complete(&task).await.unwrap();
    assert_eq!(scene.view(task.execution_id).await.progress.unwrap().pct, Some(100));
    scene.replay(task.execution_id).await.unwrap();
    assert!(scene.view(task.execution_id).await.progress.is_none());
}

pub(crate) async fn a_replay_leaves_what_its_group_owes(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let mut graph = graph(&[("a", &[]), ("b", &[]), ("child", &["a", "b"])]);
    graph.members[0].submission.priority = 9;
    graph.members[2].submission.priority = 5;
    graph.members[2].submission.edge_group_policy = Some(EdgeGroupPolicy::AnyOf {
        on_satisfied: OnSatisfied::CancelRemaining,
    });
    let graph = scene.build(graph).await;
    let a = scene.claim(WORKER).await;
    assert_eq!(a.execution_id, graph.member("a"));
    // Nothing that follows is done before the child has run and is replayed.
    scene.complete(&a).await.unwrap();
    let child = scene.claim(WORKER).await;
    assert_eq!(child.execution_id, graph.member("child"));
    scene.complete(&child).await.unwrap();
    scene.replay(child.execution_id).await.unwrap();
    assert_eq!(scene.state(graph.member("b")).await, PublicState::Cancelled);
}

pub(crate) async fn a_relative_deadline_restarts(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let policy = json!({ "timeout_policy": { "execution_deadline_ms": 60_000 } });
    let id = scene.submit(with_policy(&policy)).await;
    scene.after(MINUTE).await;
    assert_eq!(scene.state(id).await, PublicState::Expired);
    scene.replay(id).await.unwrap();
    assert_eq!(scene.state(id).await, PublicState::Waiting);
    scene.after(MINUTE).await;
    assert_eq!(scene.state(id).await, PublicState::Expired);
}

pub(crate) async fn a_past_absolute_deadline_is_dropped(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let short = CreateExecution {
        execution_deadline_at: Some(scene.now().await + MINUTE),
        ..submission()
    };
    let id = scene.submit(short).await;
    scene.after(MINUTE).await;
    scene.replay(id).await.unwrap();
    let view = scene.view(id).await;
    assert_eq!(
        (view.state.public_state, view.deadline_at),
        (PublicState::Waiting, None)
    );
}

pub(crate) async fn a_skipped_member_that_is_replayed_waits_for_its_upstream(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[]), ("b", &["a"])]).await;
    let a = scene.claim(WORKER).await;
    scene.break_down(&a).await;
    scene.replay(graph.member("b")).await.unwrap();
    assert_eq!(scene.state(graph.member("b")).await, PublicState::WaitingChildren);
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.replay(graph.member("a")).await.unwrap();
    let a = scene.claim(WORKER).await;
    scene.finish(&a).await;
    assert_eq!(scene.claim(WORKER).await.execution_id, graph.member("b"));
}

pub(crate) async fn a_child_that_is_still_impossible_stays_skipped(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[]), ("b", &[]), ("child", &["a", "b"])]).await;
    for _ in 0..2 {
        let task = scene.claim(WORKER).await;
        scene.break_down(&task).await;
    }
    scene.replay(graph.member("a")).await.unwrap();
    assert_eq!(scene.state(graph.member("child")).await, PublicState::Skipped);
    scene.replay(graph.member("b")).await.unwrap();
    assert_eq!(scene.state(graph.member("child")).await, PublicState::WaitingChildren);
}

pub(crate) async fn children_that_have_run_are_untouched(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[]), ("b", &["a"])]).await;
    for _ in 0..2 {
        let task = scene.claim(WORKER).await;
        scene.finish(&task).await;
    }
    scene.replay(graph.member("a")).await.unwrap();
    let again = scene.claim(WORKER).await;
    assert_eq!(again.execution_id, graph.member("a"));
    scene.finish(&again).await;
    let child = scene.view(graph.member("b")).await;
    assert_eq!(
        (child.state.public_state, child.attempt_count),
        (PublicState::Completed, 1)
    );
}

pub(crate) async fn a_satisfied_edge_is_not_counted_again(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[]), ("b", &[]), ("child", &["a", "b"])]).await;
    let done = scene.claim(WORKER).await;
    scene.finish(&done).await;
    scene.replay(done.execution_id).await.unwrap();
    for _ in 0..2 {
        let task = scene.claim(WORKER).await;
        assert_ne!(task.execution_id, graph.member("child"));
        scene.finish(&task).await;
    }
    assert_eq!(scene.claim(WORKER).await.execution_id, graph.member("child"));
    let groups = scene
        .fabric
        .list_groups(On::new(graph.flow_id, all()))
        .await
        .unwrap()
        .items;
    assert_eq!((groups[0].counts.applied, groups[0].counts.satisfied), (2, 2));
}

pub(crate) async fn a_replay_makes_an_ended_flow_run_again(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[])]).await;
    let task = scene.claim(WORKER).await;
    scene.finish(&task).await;
    let flow = scene.fabric.get_flow(graph.flow_id).await.unwrap();
    assert_eq!(flow.state, FlowState::Completed);
    scene.replay(graph.member("a")).await.unwrap();
    let flow = scene.fabric.get_flow(graph.flow_id).await.unwrap();
    assert_eq!((flow.state, flow.ended_at), (FlowState::Running, None));
}

pub(crate) async fn a_member_of_a_closed_flow_is_not_replayed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for policy in [CancelFlowPolicy::CancelAll, CancelFlowPolicy::FlowOnly] {
        let graph = scene.flow(&[("a", &[]), ("open", &[])]).await;
        scene.cancel(graph.member("a")).await.unwrap();
        scene.cancel_flow(graph.flow_id, policy).await.unwrap();
        scene.settle().await;
        assert_eq!(
            refused(scene.replay(graph.member("a")).await),
            Code::FlowAlreadyTerminal
        );
    }
}
