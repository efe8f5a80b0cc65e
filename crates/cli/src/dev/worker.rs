//! The built-in worker: takes what is in the lane `demo`, streams a few words about it and completes it.

use std::time::Duration;

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, LaneOrder, Task, Want};
use ff_core::command::lease::{Complete, Fail};
use ff_core::command::stream::AppendFrame;
use ff_core::error::Rejection;
use ff_core::fabric::{Fabric, On};
use ff_core::frame::FrameMode;
use ff_core::name::{Category, FrameType, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::payload::Payload;
use ff_engine::Engine;
use serde_json::{Value, json};

/// The lane the built-in worker serves; other lanes are left to yours.
pub(crate) const LANE: &str = "demo";

/// Works until it is aborted.
pub(crate) async fn work(engine: Engine) {
    loop {
        let claimed = match claim() {
            Ok(claim) => engine.claim(claim).await,
            Err(refused) => Err(refused),
        };
        let tasks = claimed.unwrap_or_else(|refused| {
            tracing::warn!(%refused, "the built-in worker could not claim");
            Vec::new()
        });
        let runs = tasks.into_iter().map(|task| run(&engine, task));
        for refused in futures::future::join_all(runs)
            .await
            .into_iter()
            .filter_map(Result::err)
        {
            tracing::warn!(%refused, "the built-in worker lost a task");
        }
    }
}

fn claim() -> Result<Claim, Rejection> {
    Ok(Claim {
        namespace: Namespace::default_namespace(),
        worker: WorkerId::parse("built-in")?,
        instance: WorkerInstanceId::parse("built-in-1")?,
        incarnation: None,
        want: Want {
            lanes: vec![LaneId::parse(LANE)?],
            lane_order: LaneOrder::Strict,
            capabilities: CapabilitySet::default(),
            max: 8,
            lease_ttl: None,
        },
        wait: ff_core::time::Duration::from_secs(20),
    })
}

async fn run(engine: &Engine, task: Task) -> Result<(), Rejection> {
    let input: Value = serde_json::from_slice(&task.input.bytes).unwrap_or(Value::Null);
    let words = input["words"].as_u64().unwrap_or(3).min(20);
    for word in 1..=words {
        let frame = AppendFrame {
            fence: Some(task.fence),
            frame_type: FrameType::parse("word")?,
            payload: Payload::json(&json!(format!("word {word} of {words}"))),
            mode: FrameMode::Durable,
            correlation_id: None,
            request_id: None,
        };
        engine.append_frame(On::new(task.execution_id, frame)).await?;
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
    if input["fails_first"] == json!(true) && task.attempt_index == 0 {
        let fail = Fail {
            fence: Some(task.fence),
            reason: "the first attempt of this one always fails".to_owned(),
            category: Category::parse("transient")?,
            retry_after: None,
            steps: Vec::new(),
        };
        return engine.fail(On::new(task.execution_id, fail)).await.map(drop);
    }
    let complete = Complete {
        fence: Some(task.fence),
        result: Some(Payload::json(&json!({ "words_written": words }))),
        ..Complete::default()
    };
    engine.complete(On::new(task.execution_id, complete)).await.map(drop)
}
