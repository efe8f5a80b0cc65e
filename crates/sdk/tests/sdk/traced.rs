//! Traces: they travel in a tag, from who submits to who works and on to what that submits.

use ff_core::trace::TRACE_TAG;
use ff_core::view::ListExecutions;
use ff_sdk::test::TestEngine;
use ff_sdk::{Ctx, Error, Fabric, Input, Task, TaskError};
use serde::{Deserialize, Serialize};

use crate::scene::Scene;
use crate::working::Hello;

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const OTHER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b8-01";

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "parent")]
struct Parent {}

async fn parent(_: Input<Parent>, ctx: Ctx) -> Result<(), TaskError> {
    ctx.submit("beside", Hello::ana()).await?;
    ctx.spawn("own", Hello::ana()).traceparent(OTHER).await?;
    ctx.spawn("child", Hello::ana()).await?.result().await?;
    Ok(())
}

async fn hello(_: Input<Hello>, ctx: Ctx) -> String {
    ctx.tags().get(TRACE_TAG).cloned().unwrap_or_default()
}

#[tokio::test]
async fn what_a_handler_submits_is_part_of_its_trace() {
    let test = TestEngine::new().task(parent).task(hello).start().await;
    let run = test.submit(Parent {}).traceparent(TRACE).await.unwrap();
    run.result().await.unwrap();
    let all = test.engine().list_executions(ListExecutions::default()).await.unwrap();
    let mut traces: Vec<_> = all.items.iter().map(|item| item.tags[TRACE_TAG].as_str()).collect();
    traces.sort_unstable();
    assert_eq!(traces, [TRACE, TRACE, TRACE, OTHER]);
}

#[tokio::test]
async fn what_is_no_trace_is_not_submitted() {
    let scene = Scene::local();
    let error = scene
        .client
        .submit(Hello::ana())
        .traceparent("00-1-2-3")
        .await
        .unwrap_err();
    let Error::Invalid { problems, .. } = &error else {
        panic!("{error}")
    };
    assert!(problems[0].contains(r#""00-1-2-3" is no traceparent"#), "{error}");
}
