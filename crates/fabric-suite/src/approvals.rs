//! What waits for a person, and the person's yes or no.

use std::collections::BTreeSet;

use ff_core::caller::{Caller, Role};
use ff_core::command::claim::Task;
use ff_core::command::page::PageRequest;
use ff_core::command::signal::{Approval, Decide, Delivered, ListApprovals, ResumeExecution, Verdict};
use ff_core::command::submit::CreateExecution;
use ff_core::command::suspend::Suspend;
use ff_core::command::waitpoint::IssuedWaitpoint;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::{SignalId, WaitpointId};
use ff_core::name::{ExecutionKind, IdempotencyKey, Identity, SignalName};
use ff_core::payload::Payload;
use ff_core::record::{Matcher, ReasonCode, ResumeCondition, TimeoutBehavior};
use ff_core::state::PublicState;
use serde_json::json;

use crate::Harness;
use crate::scene::{
    MINUTE, SECOND, Scene, WORKER, accepted, all, deltas, done, first, fresh, key, lane, nobody, other_namespace,
    refused, signal, single, submission, summary, waiting, waiting_for, with_policy,
};
use ff_core::view::{SignalView, StepTotals};

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
    let first = accepted(&approve().await.unwrap());
    let again = approve().await.unwrap();
    assert_eq!(of_decision(&again), (first, Some(Verdict::Approve)));
}

pub(crate) async fn who_decides_too_late_is_told_who_was_faster(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = asking(&scene).await;
    let (id, waitpoint_id) = (task.execution_id, waitpoint.waitpoint_id);
    let ada = Scene::of(harness, "ada").await;
    let first = accepted(&ada.decide(id, waitpoint_id, Verdict::Approve).await.unwrap());
    let told = scene.decide(id, waitpoint_id, Verdict::Reject).await.unwrap();
    let at = scene.fabric.list_signals(On::new(id, all())).await.unwrap().items[0]
        .signal
        .accepted_at;
    let of_ada = Delivered::Duplicate {
        existing_signal_id: first,
        by: Some(Identity::parse("ada").unwrap()),
        verified: Some(true),
        verdict: Some(Verdict::Approve),
        at: Some(at),
    };
    assert_eq!(told, of_ada);
    assert_eq!(scene.decide(id, waitpoint_id, Verdict::Approve).await.unwrap(), of_ada);
    let task = scene.claim(WORKER).await;
    scene.complete(&task).await.unwrap();
    let after_the_end = scene.decide(id, waitpoint_id, Verdict::Reject).await.unwrap();
    assert_eq!(after_the_end, of_ada);
    assert_eq!(
        scene.fabric.list_signals(On::new(id, all())).await.unwrap().items.len(),
        1,
        "whoever is late says nothing to the handler"
    );
}

pub(crate) async fn of_two_who_decide_at_once_one_is_told_of_the_other(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = asking(&scene).await;
    let decide = |verdict| scene.decide(task.execution_id, waitpoint.waitpoint_id, verdict);
    let (yes, no) = futures::join!(decide(Verdict::Approve), decide(Verdict::Reject));
    let mut answers = [(yes.unwrap(), Verdict::Approve), (no.unwrap(), Verdict::Reject)];
    answers.sort_by_key(|(delivered, _)| matches!(delivered, Delivered::Duplicate { .. }));
    let [(first, verdict), (told, _)] = answers;
    assert_eq!(of_decision(&told), (accepted(&first), Some(verdict)));
}

pub(crate) async fn where_nobody_decided_there_is_nobody_to_tell_of(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (cancelled, waitpoint) = asking(&scene).await;
    scene.cancel(cancelled.execution_id).await.unwrap();
    let late = scene
        .decide(cancelled.execution_id, waitpoint.waitpoint_id, Verdict::Approve)
        .await;
    assert_eq!(refused(late), Code::TargetNotSignalable);
    let (task, waitpoint) = asking(&scene).await;
    let resume = ResumeExecution {
        reason: None,
        request_id: None,
    };
    scene
        .fabric
        .resume_execution(On::new(task.execution_id, resume))
        .await
        .unwrap();
    let late = scene
        .decide(task.execution_id, waitpoint.waitpoint_id, Verdict::Approve)
        .await;
    assert_eq!(refused(late), Code::WaitpointClosed);
}

fn of_decision(delivered: &Delivered) -> (SignalId, Option<Verdict>) {
    match delivered {
        Delivered::Duplicate {
            existing_signal_id,
            verdict,
            ..
        } => (*existing_signal_id, *verdict),
        Delivered::Accepted { .. } => panic!("{delivered:?} is new"),
    }
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
        ..ListApprovals::default()
    };
    assert!(listed(&scene, of_another).await.is_empty());
    let page = scene
        .fabric
        .approvals(ListApprovals {
            page: first(2),
            ..ListApprovals::default()
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
            page: rest,
            ..ListApprovals::default()
        },
    )
    .await;
    assert_eq!(rest.len(), 1);
    assert!(!page.items.contains(&rest[0]));
}

pub(crate) async fn approvals_are_listed_by_lane_and_kind(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (plain, _) = asking(&scene).await;
    let mail = CreateExecution {
        execution_kind: ExecutionKind::parse("mail").unwrap(),
        ..submission()
    };
    let (mail, _) = asking_for(&scene, mail).await;
    let of = async |lanes: &[&str], kinds: &[&str]| {
        let request = ListApprovals {
            lane: lanes.iter().map(|name| lane(name)).collect(),
            kind: kinds.iter().map(|kind| ExecutionKind::parse(*kind).unwrap()).collect(),
            ..ListApprovals::default()
        };
        let ids = listed(&scene, request).await.into_iter().map(|item| item.execution_id);
        ids.collect::<Vec<_>>()
    };
    assert_eq!(of(&[], &["mail"]).await, [mail.execution_id]);
    assert_eq!(of(&["slow"], &[]).await, []);
    assert_eq!(
        of(&["slow", "default"], &["mail", "nothing"]).await,
        [mail.execution_id]
    );
    assert_eq!(of(&["default"], &[]).await, [plain.execution_id, mail.execution_id]);
}

pub(crate) async fn an_approval_says_what_is_shown_and_what_it_has_used(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let ours = CreateExecution {
        creator_identity: Some(Identity::parse("ci").unwrap()),
        ..submission()
    };
    let task = scene.running(ours).await;
    scene.report(&task, budget, 7).await.unwrap();
    scene.recorded(&task, vec![done("a", "1")]).await;
    let shown = json!({ "title": "Deploy 1.4.2", "diff": "+1" });
    let patch = json!({ "approvals": { "answer": shown, "other": 1 } });
    scene.append_as(&task, summary(&task, &patch)).await.unwrap();
    ask(&scene, &task).await;
    let item = listed(&scene, ListApprovals::default()).await.remove(0);
    assert_eq!(item.creator, Some(Identity::parse("ci").unwrap()));
    assert_eq!(item.usage, deltas(7));
    assert_eq!(item.steps, Some(StepTotals { count: 1, bytes: 3 }));
    assert_eq!(item.expected_attempt, 0);
    assert_eq!(item.title.as_deref(), Some("Deploy 1.4.2"));
    assert_eq!(item.show_key, Some(key("answer")));
    assert_eq!(item.show_bytes, item.show.as_ref().map(|show| show.len() as u64));
    let read: serde_json::Value = serde_json::from_slice(&item.show.unwrap().bytes).unwrap();
    assert_eq!(read, shown);
    let reader = Caller {
        role: Role::Reader,
        ..Caller::local()
    };
    let reader = Scene::by(harness, reader).await;
    let item = listed(&reader, ListApprovals::default()).await.remove(0);
    let bytes = (item.title, item.show, item.show_key, item.show_bytes);
    assert_eq!(bytes, (None, None, None, None), "a reader sees no bytes");
    assert_eq!(item.usage, deltas(7));
}

pub(crate) async fn what_is_too_large_to_show_says_how_large_it_is(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let long = "é".repeat(2_500);
    let shown = json!({ "approvals": { "answer": { "title": long } } });
    scene.append_as(&task, summary(&task, &shown)).await.unwrap();
    ask(&scene, &task).await;
    let item = listed(&scene, ListApprovals::default()).await.remove(0);
    assert_eq!((item.show, item.show_key), (None, Some(key("answer"))));
    assert_eq!(item.show_bytes, Some(r#"{"title":""}"#.len() as u64 + 5_000));
    assert_eq!(item.title, Some("é".repeat(128)));
}

async fn listed(scene: &Scene<'_>, request: ListApprovals) -> Vec<Approval> {
    scene.fabric.approvals(request).await.unwrap().items
}

/// A suspended execution that waits for a person.
async fn asking(scene: &Scene<'_>) -> (Task, IssuedWaitpoint) {
    asking_for(scene, submission()).await
}

async fn asking_for(scene: &Scene<'_>, command: CreateExecution) -> (Task, IssuedWaitpoint) {
    let task = scene.running(command).await;
    let waitpoint = ask(scene, &task).await;
    (task, waitpoint)
}

/// Asks a person, and waits.
async fn ask(scene: &Scene<'_>, task: &Task) -> IssuedWaitpoint {
    let suspend = Suspend {
        reason_code: ReasonCode::WaitingForApproval,
        ..waiting(task)
    };
    scene.suspended(task, suspend).await.remove(0)
}
