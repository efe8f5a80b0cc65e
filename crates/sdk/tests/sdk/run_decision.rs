//! A person's yes or no to a run that waits for it.

use ff_core::command::claim::Task as Claimed;
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::name::WaitpointKey;
use ff_core::record::{Matcher, ReasonCode, ResumeCondition};
use ff_core::time::Duration;
use ff_sdk::{Fabric, Task};
use serde::{Deserialize, Serialize};

use crate::scene::Scene;

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "publish")]
struct Publish {}

#[derive(Serialize)]
struct Note {
    text: &'static str,
}

/// Lets a task wait for somebody who decides about these.
async fn ask(scene: &Scene, task: &Claimed, keys: &[&str]) {
    let keys: Vec<_> = keys.iter().map(|key| WaitpointKey::parse(key).unwrap()).collect();
    let any = |key: &WaitpointKey| ResumeCondition::Single {
        waitpoint_key: key.clone(),
        matcher: Matcher::Any,
    };
    let fresh = |key: &WaitpointKey| WaitpointChoice::Fresh {
        waitpoint_key: key.clone(),
        waitpoint_id: None,
    };
    let suspend = Suspend {
        fence: Some(task.fence),
        waitpoints: keys.iter().map(fresh).collect(),
        resume_condition: ResumeCondition::AllOf(keys.iter().map(any).collect()),
        reason_code: ReasonCode::WaitingForApproval,
        timeout_at: None,
        timeout_behavior: None,
        resume_delay: Duration::ZERO,
        idempotency_key: None,
        suspension_id: None,
        steps: Vec::new(),
        step: None,
    };
    scene.engine.suspend(On::new(task.execution_id, suspend)).await.unwrap();
}

#[tokio::test]
async fn a_yes_with_a_note_reaches_the_handler() {
    for scene in Scene::each() {
        let run = scene.client.submit(Publish {}).await.unwrap();
        ask(&scene, &scene.claim_one().await, &["review#0"]).await;
        run.approve("review").note(&Note { text: "fine" }).await.unwrap();
        scene.settle().await;
        let signals = scene.claim_one().await.resumed.unwrap().signals;
        assert_eq!(signals.len(), 1);
        assert_eq!(signals[0].signal.name.as_str(), "approved");
        assert_eq!(signals[0].payload.bytes, r#"{"text":"fine"}"#.as_bytes());
    }
}

#[tokio::test]
async fn a_no_is_another_signal() {
    for scene in Scene::each() {
        let run = scene.client.submit(Publish {}).await.unwrap();
        ask(&scene, &scene.claim_one().await, &["order/review#0"]).await;
        run.reject("review").await.unwrap();
        scene.settle().await;
        assert_eq!(
            scene.claim_one().await.resumed.unwrap().signals[0].signal.name.as_str(),
            "rejected"
        );
    }
}

#[tokio::test]
async fn what_nobody_asked_for_is_refused_with_what_is_asked_for() {
    for scene in Scene::each() {
        let run = scene.client.submit(Publish {}).await.unwrap();
        ask(&scene, &scene.claim_one().await, &["review#0", "review#1"]).await;
        for (name, says) in [
            ("check", "nothing named \"check\""),
            ("review", "several things named \"review\""),
        ] {
            let refused = run.approve(name).await.unwrap_err();
            assert_eq!(refused.code(), Some(Code::WaitpointNotFound));
            let text = refused.to_string();
            assert!(
                text.contains(says) && text.contains("\"review#0\", \"review#1\""),
                "{text}"
            );
        }
        run.approve("review#1").await.unwrap();
    }
}
