//! Cancelling, holding and moving executions.

use std::collections::BTreeSet;

use ff_core::command::lease::Completed;
use ff_core::command::operator::{CancelExecution, Cancelled, ChangePriority, Changed};
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::record::AttemptEndState;
use ff_core::state::{BlockingReason, EligibilityState, PublicState};
use ff_core::view::ListPartitions;

use crate::Harness;
use crate::scene::{HOUR, MINUTE, Scene, WORKER, all, nobody, refused, retrying, signal, submission};

pub(crate) async fn a_waiting_execution_is_cancelled_at_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    assert_eq!(scene.cancel(id).await.unwrap(), Cancelled::Now);
    let view = scene.view(id).await;
    assert_eq!(view.state.public_state, PublicState::Cancelled);
    assert_eq!(view.reason.as_deref(), Some("not wanted"));
    assert!(view.completed_at.is_some());
    assert!(scene.try_claim(WORKER).await.is_none());
}

pub(crate) async fn a_delayed_or_held_execution_is_cancelled_at_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let delayed = CreateExecution {
        delay_until: Some(scene.now().await + MINUTE),
        ..submission()
    };
    let held = scene.submit_plain().await;
    scene.hold(held).await.unwrap();
    for id in [scene.submit(delayed).await, held] {
        scene.cancel(id).await.unwrap();
        assert_eq!(scene.state(id).await, PublicState::Cancelled);
    }
}

pub(crate) async fn a_running_execution_is_cancelled_at_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(retrying(3)).await;
    scene.cancel(task.execution_id).await.unwrap();
    assert_eq!(scene.state(task.execution_id).await, PublicState::Cancelled);
    assert_eq!(refused(scene.complete(&task).await), Code::ExecutionNotActive);
    let page = scene
        .fabric
        .list_attempts(On::new(task.execution_id, all()))
        .await
        .unwrap();
    let end = page.items[0].end.as_ref().unwrap();
    assert_eq!(end.state, AttemptEndState::EndedCancelled);
}

pub(crate) async fn a_suspended_execution_is_cancelled_at_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = scene.asleep(submission()).await;
    scene.cancel(task.execution_id).await.unwrap();
    assert_eq!(scene.state(task.execution_id).await, PublicState::Cancelled);
    let answer = scene.send(task.execution_id, &waitpoint, signal("late")).await;
    assert_eq!(refused(answer), Code::TargetNotSignalable);
    let open = scene.fabric.list_pending_waitpoints(task.execution_id).await.unwrap();
    assert!(open.is_empty());
}

pub(crate) async fn every_part_of_the_store_is_listed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    let partitions = scene.fabric.list_partitions(ListPartitions {}).await.unwrap();
    let home = id.partition();
    let found = partitions
        .iter()
        .filter(|view| (view.family, view.index) == (home.family, home.index));
    assert_eq!(found.count(), 1);
    let families: BTreeSet<_> = partitions.iter().map(|view| view.family).collect();
    assert_eq!(families.len(), 3);
}

pub(crate) async fn a_deleted_execution_is_gone_for_every_read_at_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    let id = task.execution_id;
    scene.append(&task, "hello").await.unwrap();
    scene.finish(&task).await;
    scene.fabric.delete_execution(id).await.unwrap();
    for settled in [false, true] {
        assert_eq!(refused(scene.fabric.get_state(id).await), Code::ExecutionNotFound);
        assert_eq!(refused(scene.fabric.get_input(id).await), Code::ExecutionNotFound);
        assert_eq!(refused(scene.result(id).await), Code::ExecutionNotFound);
        assert_eq!(
            refused(scene.fabric.get_history(On::new(id, all())).await),
            Code::ExecutionNotFound
        );
        assert_eq!(
            refused(scene.fabric.delete_execution(id).await),
            Code::ExecutionNotFound
        );
        if !settled {
            scene.settle().await;
        }
    }
    let listed = scene.fabric.list_executions(Default::default()).await.unwrap().items;
    assert!(listed.iter().all(|view| view.execution_id != id));
}

pub(crate) async fn what_has_not_ended_is_not_deleted(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let waiting = scene.submit_plain().await;
    assert_eq!(
        refused(scene.fabric.delete_execution(waiting).await),
        Code::ExecutionNotTerminal
    );
    let task = scene.claim(WORKER).await;
    assert_eq!(
        refused(scene.fabric.delete_execution(task.execution_id).await),
        Code::ExecutionNotTerminal
    );
    assert_eq!(scene.state(waiting).await, PublicState::Active);
    assert_eq!(
        refused(scene.fabric.delete_execution(nobody()).await),
        Code::ExecutionNotFound
    );
}

pub(crate) async fn a_member_is_deleted_once_no_member_of_its_flow_is_open(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("first", &[]), ("then", &["first"])]).await;
    let first = scene.claim(WORKER).await;
    scene.finish(&first).await;
    assert_eq!(
        refused(scene.fabric.delete_execution(first.execution_id).await),
        Code::ExecutionNotTerminal
    );
    let then = scene.claim(WORKER).await;
    scene.finish(&then).await;
    scene.fabric.delete_execution(first.execution_id).await.unwrap();
    scene.settle().await;
    assert_eq!(
        refused(scene.fabric.get_state(first.execution_id).await),
        Code::ExecutionNotFound
    );
    let members = scene.fabric.list_members(On::new(graph.flow_id, all())).await.unwrap();
    let members: Vec<_> = members.items.iter().map(|view| view.execution_id).collect();
    assert_eq!(members, [then.execution_id]);
    // What is left can run again, and go as well.
    scene.replay(then.execution_id).await.unwrap();
    let again = scene.claim(WORKER).await;
    scene.finish(&again).await;
    scene.fabric.delete_execution(then.execution_id).await.unwrap();
    scene.settle().await;
    let members = scene.fabric.list_members(On::new(graph.flow_id, all())).await.unwrap();
    assert_eq!(members.items.len(), 0);
}

pub(crate) async fn cancelling_twice_is_answered_again(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    scene.cancel(id).await.unwrap();
    assert_eq!(scene.cancel(id).await.unwrap(), Cancelled::Already);
}

pub(crate) async fn another_end_cannot_be_cancelled(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.complete(&task).await.unwrap();
    assert_eq!(refused(scene.cancel(task.execution_id).await), Code::ExecutionNotActive);
    assert_eq!(scene.state(task.execution_id).await, PublicState::Completed);
}

pub(crate) async fn a_holder_cancels_with_its_own_fence_only(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let old = scene.running(submission()).await;
    scene.release(&old).await.unwrap();
    let task = scene.claim("other").await;
    let cancel = |fence| CancelExecution {
        reason: "pointless".to_owned(),
        fence: Some(fence),
    };
    let id = task.execution_id;
    let answer = scene.fabric.cancel_execution(On::new(id, cancel(old.fence))).await;
    assert_eq!(refused(answer), Code::ExecutionNotActive);
    let own = scene.fabric.cancel_execution(On::new(id, cancel(task.fence))).await;
    assert_eq!(own.unwrap(), Cancelled::Now);
    let again = scene.fabric.cancel_execution(On::new(id, cancel(task.fence))).await;
    assert_eq!(again.unwrap(), Cancelled::Already);
}

pub(crate) async fn a_held_execution_is_not_handed_out(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    assert_eq!(scene.hold(id).await.unwrap(), Changed::Now);
    assert_eq!(scene.hold(id).await.unwrap(), Changed::Already);
    let vector = scene.vector(id).await;
    assert_eq!(vector.eligibility_state, EligibilityState::BlockedByOperator);
    assert_eq!(vector.blocking_reason, BlockingReason::PausedByOperator);
    assert_eq!(vector.public_state, PublicState::Waiting);
    assert!(scene.detail(id).await.contains("look first"));
    assert!(scene.try_claim(WORKER).await.is_none());
    assert_eq!(scene.fabric.unhold(id).await.unwrap(), Changed::Now);
    assert_eq!(scene.fabric.unhold(id).await.unwrap(), Changed::Already);
    assert_eq!(scene.claim(WORKER).await.execution_id, id);
}

pub(crate) async fn a_running_attempt_goes_on_under_a_hold(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.hold(task.execution_id).await.unwrap();
    assert_eq!(scene.state(task.execution_id).await, PublicState::Active);
    assert_eq!(scene.complete(&task).await.unwrap(), Completed::Now);
}

pub(crate) async fn what_comes_back_under_a_hold_stays(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.hold(task.execution_id).await.unwrap();
    scene.release(&task).await.unwrap();
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.fabric.unhold(task.execution_id).await.unwrap();
    assert_eq!(scene.claim(WORKER).await.execution_id, task.execution_id);
}

pub(crate) async fn of_several_reasons_the_hold_shows_first(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let delayed = CreateExecution {
        delay_until: Some(scene.now().await + HOUR),
        ..submission()
    };
    let id = scene.submit(delayed).await;
    scene.hold(id).await.unwrap();
    assert_eq!(
        scene.vector(id).await.eligibility_state,
        EligibilityState::BlockedByOperator
    );
    scene.fabric.unhold(id).await.unwrap();
    assert_eq!(
        scene.vector(id).await.eligibility_state,
        EligibilityState::NotEligibleUntilTime
    );
}

pub(crate) async fn a_delay_runs_on_under_a_hold(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let delayed = CreateExecution {
        delay_until: Some(scene.now().await + MINUTE),
        ..submission()
    };
    let id = scene.submit(delayed).await;
    scene.hold(id).await.unwrap();
    scene.after(MINUTE).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.fabric.unhold(id).await.unwrap();
    assert_eq!(scene.claim(WORKER).await.execution_id, id);
}

pub(crate) async fn a_priority_moves_an_execution_in_its_queue(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let ids = scene.submit_in_turn(2).await;
    assert_eq!(prioritize(&scene, ids[1], 5).await.unwrap(), Changed::Now);
    assert_eq!(prioritize(&scene, ids[1], 5).await.unwrap(), Changed::Already);
    assert_eq!(scene.claim(WORKER).await.execution_id, ids[1]);
}

pub(crate) async fn a_priority_changes_in_any_open_state_and_is_kept(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let ids = scene.submit_in_turn(2).await;
    let task = scene.claim(WORKER).await;
    assert_eq!(task.execution_id, ids[0]);
    let second = scene.claim(WORKER).await;
    prioritize(&scene, ids[1], 5).await.unwrap();
    scene.release(&task).await.unwrap();
    scene.release(&second).await.unwrap();
    assert_eq!(scene.claim(WORKER).await.execution_id, ids[1]);
}

pub(crate) async fn a_priority_is_at_most_9_000(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    assert_eq!(refused(prioritize(&scene, id, 9_001).await), Code::InvalidInput);
    assert_eq!(scene.view(id).await.priority, 0);
    assert_eq!(prioritize(&scene, id, 9_000).await.unwrap(), Changed::Now);
}

pub(crate) async fn an_ended_execution_is_neither_held_nor_moved(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    scene.cancel(id).await.unwrap();
    assert_eq!(refused(scene.hold(id).await), Code::ExecutionNotActive);
    assert_eq!(refused(scene.fabric.unhold(id).await), Code::ExecutionNotActive);
    assert_eq!(refused(prioritize(&scene, id, 1).await), Code::ExecutionNotActive);
}

pub(crate) async fn an_unknown_execution_is_not_there_to_operate_on(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = nobody();
    let answers = [
        refused(scene.cancel(id).await),
        refused(scene.hold(id).await),
        refused(scene.fabric.unhold(id).await),
        refused(prioritize(&scene, id, 1).await),
        refused(scene.revoke(id).await),
        refused(scene.replay(id).await),
    ];
    assert_eq!(answers, [Code::ExecutionNotFound; 6]);
}

async fn prioritize(scene: &Scene<'_>, id: ExecutionId, priority: u16) -> Result<Changed> {
    scene
        .fabric
        .change_priority(On::new(id, ChangePriority { priority }))
        .await
}
