//! What waits for a signal or a person.

use ff_core::command::stream::AppendFrame;
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::fabric::{Fabric, On};
use ff_core::frame::FrameMode;
use ff_core::name::{FrameType, SignalName, WaitpointKey};
use ff_core::payload::Payload;
use ff_core::record::{Matcher, ReasonCode, ResumeCondition};
use ff_core::time::Duration;
use serde_json::json;

use super::scene::Scene;

fn key(name: &str) -> WaitpointKey {
    WaitpointKey::parse(name).unwrap()
}

fn asks_for(waitpoint: &str, names: &[&str]) -> ResumeCondition {
    let names = names.iter().map(|name| SignalName::parse(name).unwrap());
    ResumeCondition::Single {
        waitpoint_key: key(waitpoint),
        matcher: Matcher::ByNames(names.collect()),
    }
}

/// Submits an execution that waits at these waitpoints.
fn waits(scene: &Scene, number: u128, name: &str, reason_code: ReasonCode, conditions: Vec<ResumeCondition>) {
    let name = name.to_owned();
    scene.submit(number, "order", |command| {
        command.tags.insert("name".to_owned(), name);
    });
    let task = scene.claim("default");
    let fresh = |condition: &ResumeCondition| match condition {
        ResumeCondition::Single { waitpoint_key, .. } => WaitpointChoice::Fresh {
            waitpoint_key: waitpoint_key.clone(),
            waitpoint_id: None,
        },
        _ => unreachable!("a condition of this test"),
    };
    let question = AppendFrame {
        fence: Some(task.fence),
        frame_type: FrameType::parse("summary").unwrap(),
        payload: Payload::json(&json!({ "approvals": { "review": "Refund 120 EUR to Ana?" } })),
        mode: FrameMode::Summary,
        correlation_id: None,
        request_id: None,
    };
    scene.with(async |engine| {
        engine.append_frame(On::new(task.execution_id, question)).await.unwrap();
        let now = engine.store_time().await.unwrap();
        let suspend = Suspend {
            fence: Some(task.fence),
            waitpoints: conditions.iter().map(fresh).collect(),
            resume_condition: ResumeCondition::AllOf(conditions),
            reason_code,
            timeout_at: Some(now + Duration::from_hours(5)),
            timeout_behavior: None,
            resume_delay: Duration::ZERO,
            idempotency_key: None,
            suspension_id: None,
            steps: Vec::new(),
            step: None,
        };
        engine.suspend(On::new(task.execution_id, suspend)).await.unwrap();
    });
}

fn scene() -> Scene {
    let scene = Scene::empty();
    let decision = || asks_for("review", &["approved", "rejected"]);
    waits(
        &scene,
        0x1,
        "refund-1",
        ReasonCode::WaitingForApproval,
        vec![decision()],
    );
    waits(
        &scene,
        0x2,
        "refund-2",
        ReasonCode::WaitingForApproval,
        vec![decision()],
    );
    let both = vec![asks_for("payment", &["paid"]), asks_for("delivery", &["delivered"])];
    waits(&scene, 0x3, "parcel", ReasonCode::WaitingForSignal, both);
    scene.submit(0x4, "order", |_| ());
    scene.pass(30);
    scene
}

#[test]
fn what_waits_for_a_person_is_listed_and_decided() {
    scene().prints(
        "approvals",
        &[
            "approvals",
            "get refund-1",
            "approve refund-1",
            "approve refund-1",
            "reject refund-2 --note {\"why\":\"twice\"}",
            "approve 00000004",
            "approve refund-2 --note because",
            "approvals",
        ],
    );
}

#[test]
fn signals_go_where_they_are_waited_for() {
    scene().prints(
        "signal",
        &[
            "signal parcel paid",
            "signal parcel unknown",
            "signal parcel unknown --at payment",
            "signal parcel delivered --payload {\"at\":\"door\"}",
            "signal parcel paid",
            "signal 00000004 paid",
        ],
    );
}
