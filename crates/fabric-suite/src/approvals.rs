//! What waits for a person, and the person's yes or no.

use std::collections::BTreeSet;

use ff_core::command::claim::Task;
use ff_core::command::page::PageRequest;
use ff_core::command::signal::{Approval, Decide, Delivered, ListApprovals};
use ff_core::command::suspend::Suspend;
use ff_core::command::waitpoint::IssuedWaitpoint;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::WaitpointId;
use ff_core::machine::approval::Verdict;
use ff_core::name::{IdempotencyKey, SignalName};
use ff_core::payload::Payload;
use ff_core::record::{Matcher, ReasonCode, ResumeCondition, TimeoutBehavior};
use ff_core::state::PublicState;
use serde_json::json;

use crate::Harness;
use crate::scene::{
    MINUTE, SECOND, Scene, WORKER, accepted, all, first, fresh, nobody, other_namespace, refused, signal, single,
    submission, waiting, waiting_for, with_policy,
};
use ff_core::view::SignalView;

pub(crate) async fn a_yes_is_a_signal_named_approved(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = asking(&scene).await;
    scene
        .decide(task.execution_id, waitpoint.waitpoint_id, Verdict::Approve)
        .await
        .unwrap();
    let resumed = scene.claim(WORKER).await.resumed.unwrap();
    let SignalView { signal: told, payload } = &resumed.signals[0];
    assert_eq!(told.name, SignalName::approved());
    assert_eq!(*payload, Payload::json(&json!("looked at it")));
}

pub(crate) async fn a_no_is_a_signal_named_rejected(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = asking(&scene).await;
    scene
        .decide(task.execution_id, waitpoint.waitpoint_id, Verdict::Reject)
        .await
        .unwrap();
    let resumed = scene.claim(WORKER).await.resumed.unwrap();
    assert_eq!(resumed.signals[0].signal.name, SignalName::rejected());
}

pub(crate) async fn a_decision_is_made_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = asking(&scene).await;
    let decide = || Decide {
        waitpoint_id: waitpoint.waitpoint_id,
        payload: Payload::default(),
        idempotency_key: Some(IdempotencyKey::parse("mine").unwrap()),
    };
    let approve = || scene.fabric.approve(On::new(task.execution_id, decide()));
    let existing_signal_id = accepted(approve().await.unwrap());
    let again = approve().await.unwrap();
    assert_eq!(again, Delivered::Duplicate { existing_signal_id });
    let late = scene
        .decide(task.execution_id, waitpoint.waitpoint_id, Verdict::Reject)
        .await;
    assert_eq!(refused(late), Code::WaitpointClosed);
}

pub(crate) async fn a_decision_is_never_one_signal_too_many(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene
        .running(with_policy(&json!({ "max_signals_per_execution": 1 })))
        .await;
    let early = scene.hand_out(&task, "early").await;
    let named = Matcher::ByName(SignalName::approved());
    let waitpoint = scene
        .suspended(&task, waiting_for(&task, &["answer"], single("answer", named)))
        .await
        .remove(0);
    let id = task.execution_id;
    for _ in 0..2 {
        scene.decide(id, early.waitpoint_id, Verdict::Reject).await.unwrap();
        scene.decide(id, waitpoint.waitpoint_id, Verdict::Reject).await.unwrap();
    }
    scene.send(id, &waitpoint, signal("junk")).await.unwrap();
    let junk = scene.send(id, &waitpoint, signal("junk")).await;
    assert_eq!(refused(junk), Code::SignalLimitExceeded);
    scene
        .decide(id, waitpoint.waitpoint_id, Verdict::Approve)
        .await
        .unwrap();
    assert_eq!(scene.state(id).await, PublicState::Resumable);
}

pub(crate) async fn there_is_nothing_to_decide_at_an_unknown_waitpoint(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, _) = asking(&scene).await;
    let unknown = WaitpointId::from_uuid(fresh());
    let answer = scene.decide(task.execution_id, unknown, Verdict::Approve).await;
    assert_eq!(refused(answer), Code::WaitpointNotFound);
    let answer = scene.decide(nobody(), unknown, Verdict::Approve).await;
    assert_eq!(refused(answer), Code::ExecutionNotFound);
}

pub(crate) async fn everything_that_waits_for_a_person_is_listed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.asleep(submission()).await;
    let (task, waitpoint) = asking(&scene).await;
    let operator_only = scene.running(submission()).await;
    scene
        .suspended(
            &operator_only,
            waiting_for(&operator_only, &["a"], ResumeCondition::OperatorOnly),
        )
        .await;
    let listed = listed(&scene, ListApprovals::default()).await;
    let ids: BTreeSet<_> = listed.iter().map(|approval| approval.execution_id).collect();
    assert_eq!(ids, BTreeSet::from([task.execution_id, operator_only.execution_id]));
    let shown = listed
        .iter()
        .find(|approval| approval.execution_id == task.execution_id)
        .unwrap();
    assert_eq!(shown.waitpoints[0].id, waitpoint.waitpoint_id);
    assert_eq!(shown.reason_code, ReasonCode::WaitingForApproval);
}

pub(crate) async fn what_was_decided_is_no_longer_listed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = asking(&scene).await;
    scene
        .decide(task.execution_id, waitpoint.waitpoint_id, Verdict::Approve)
        .await
        .unwrap();
    assert!(listed(&scene, ListApprovals::default()).await.is_empty());
}

pub(crate) async fn what_was_escalated_comes_first_then_what_waits_longest(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (first, _) = asking(&scene).await;
    scene.after(SECOND).await;
    let (second, _) = asking(&scene).await;
    let task = scene.running(submission()).await;
    let urgent = Suspend {
        timeout_at: Some(task.now + MINUTE),
        timeout_behavior: Some(TimeoutBehavior::Escalate),
        ..waiting(&task)
    };
    scene.suspended(&task, urgent).await;
    scene.after(MINUTE).await;
    let listed = listed(&scene, ListApprovals::default()).await;
    let ids: Vec<_> = listed.iter().map(|approval| approval.execution_id).collect();
    assert_eq!(ids, [task.execution_id, first.execution_id, second.execution_id]);
}

pub(crate) async fn approvals_are_listed_by_namespace_and_in_pages(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for _ in 0..3 {
        asking(&scene).await;
    }
    let of_another = ListApprovals {
        namespace: Some(other_namespace()),
        page: all(),
    };
    assert!(listed(&scene, of_another).await.is_empty());
    let page = scene
        .fabric
        .approvals(ListApprovals {
            namespace: None,
            page: first(2),
        })
        .await
        .unwrap();
    assert_eq!(page.items.len(), 2);
    let rest = PageRequest {
        cursor: page.next,
        limit: None,
    };
    let rest = listed(
        &scene,
        ListApprovals {
            namespace: None,
            page: rest,
        },
    )
    .await;
    assert_eq!(rest.len(), 1);
    assert!(!page.items.contains(&rest[0]));
}

async fn listed(scene: &Scene<'_>, request: ListApprovals) -> Vec<Approval> {
    scene.fabric.approvals(request).await.unwrap().items
}

/// A suspended execution that waits for a person.
async fn asking(scene: &Scene<'_>) -> (Task, IssuedWaitpoint) {
    let task = scene.running(submission()).await;
    let suspend = Suspend {
        reason_code: ReasonCode::WaitingForApproval,
        ..waiting(&task)
    };
    let waitpoint = scene.suspended(&task, suspend).await.remove(0);
    (task, waitpoint)
}
