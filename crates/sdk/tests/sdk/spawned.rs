//! Children: started once, waited for together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ff_core::state::PublicState;
use ff_core::view::ListExecutions;
use ff_sdk::test::{TestBuilder, TestEngine, crash_everywhere};
use ff_sdk::{ChildFailed, Ctx, Fabric, Input, Submission, Task, TaskError, Worker, secs};
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};

use crate::scene::Scene;
use crate::shaky::Shaky;
use crate::working::{Working, until};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "sum", output = u64)]
struct Sum {
    parts: Vec<u64>,
}

impl Sum {
    fn to_five() -> Self {
        Self {
            parts: (1..=5).collect(),
        }
    }
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "square", output = u64)]
struct Square {
    of: u64,
}

async fn square(Input(job): Input<Square>, ctx: Ctx) -> Result<u64, TaskError> {
    match job.of {
        0 => Err(TaskError::permanent("nothing to square")),
        of => ctx.step("multiply", |_| async move { Ok(of * of) }).await,
    }
}

/// Squares all parts beside each other, and adds them up.
async fn sum(Input(job): Input<Sum>, ctx: Ctx) -> Result<u64, TaskError> {
    let children = try_join_all(
        job.parts
            .iter()
            .map(|of| ctx.spawn("square", Square { of: *of }).into_future()),
    )
    .await?;
    let squares = try_join_all(children.iter().map(|child| child.result())).await?;
    ctx.step("add", |_| async { Ok(squares.iter().sum()) }).await
}

fn testing() -> TestBuilder {
    TestEngine::new().task(sum).task(square)
}

#[tokio::test]
async fn five_children_give_their_results() {
    let test = testing().start().await;
    let run = test.submit(Sum::to_five()).await.unwrap();
    assert_eq!(run.result().await.unwrap(), 55);
    assert_eq!((test.calls("multiply"), test.calls("add")), (5, 1));
    let steps = run.steps().await.unwrap();
    let children: Vec<_> = steps
        .iter()
        .filter(|step| step.view.key.as_str().starts_with("square#"))
        .collect();
    assert_eq!(children.len(), 5);
}

#[tokio::test]
async fn children_that_are_awaited_together_are_started_by_one_call() {
    let scene = Scene::local();
    let (shaky, _told) = Shaky::new(scene.engine.clone());
    let worker = Worker::new(shaky.clone()).task(sum).task(square).build().unwrap();
    let working = Working::new(&worker);
    let run = scene.client.submit(Sum::to_five()).await.unwrap();
    until(|| async {
        scene.settle().await;
        run.state().await.unwrap().is_terminal()
    })
    .await;
    assert_eq!((run.result().await.unwrap(), shaky.calls("spawn_children")), (55, 1));
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_crash_after_any_step_starts_no_child_twice() {
    let came = crash_everywhere(testing, |test| async move {
        let run = test.submit(Sum::to_five()).await.unwrap();
        let sum = run.result().await.unwrap();
        let all = test.engine().list_executions(ListExecutions::default()).await.unwrap();
        (sum, all.items.len())
    });
    assert_eq!(came.await, (55, 6), "the parent and five children");
}

#[tokio::test]
async fn answers_that_get_lost_start_no_child_twice() {
    let test = testing().start().await;
    test.drop_replies(0.4);
    let run = test.submit(Sum::to_five()).await.unwrap();
    assert_eq!(run.result().await.unwrap(), 55);
    let all = test.engine().list_executions(ListExecutions::default()).await.unwrap();
    assert_eq!(all.items.len(), 6, "the parent and five children");
}

#[tokio::test]
async fn a_child_that_failed_is_named_with_its_reason() {
    async fn parent(_: Input<Sum>, ctx: Ctx) -> Result<u64, TaskError> {
        let good = ctx.spawn("square", Square { of: 3 }).key("good").await?;
        let bad = ctx.spawn("square", Square { of: 0 }).key("bad").priority(10).await?;
        let error = bad.result().await.unwrap_err();
        let failed = error.downcast_ref::<ChildFailed>().unwrap();
        assert_eq!(
            (failed.execution_id, failed.state),
            (bad.id(), Some(PublicState::Failed))
        );
        assert!(error.is_permanent());
        let told = error.to_string();
        assert!(
            told.contains("square[bad]") && told.contains("nothing to square"),
            "{told}"
        );
        good.result().await
    }
    let test = TestEngine::new().task(parent).task(square).start().await;
    let run = test.submit(Sum::to_five()).await.unwrap();
    assert_eq!(run.result().await.unwrap(), 9);
}

#[tokio::test]
async fn a_parent_that_fails_says_which_child_did() {
    let test = testing().start().await;
    let run = test.submit(Sum { parts: vec![2, 0] }).await.unwrap();
    let error = run.result().await.unwrap_err().to_string();
    assert!(
        error.contains("square#1") && error.contains("nothing to square"),
        "{error}"
    );
}

#[tokio::test]
async fn a_child_has_neither_an_id_nor_a_key_of_its_own() {
    async fn parent(_: Input<Sum>, ctx: Ctx) -> Result<u64, TaskError> {
        let child = Submission::new(Square { of: 1 }).idempotency_key("mine");
        ctx.spawn("square", child).await?.result().await
    }
    let test = TestEngine::new().task(parent).task(square).start().await;
    let run = test.submit(Sum::to_five()).await.unwrap();
    let error = run.result().await.unwrap_err().to_string();
    assert!(error.contains("leave out idempotency_key"), "{error}");
}

#[tokio::test]
async fn a_result_and_another_wait_at_once_are_a_mistake() {
    async fn parent(_: Input<Sum>, ctx: Ctx) -> Result<u64, TaskError> {
        let child = ctx.spawn("square", Square { of: 1 }).delay(secs(60)).await?;
        tokio::select! {
            result = child.result() => result,
            slept = ctx.sleep("late", secs(10)) => slept.map(|()| 0),
        }
    }
    let test = TestEngine::new().task(parent).task(square).start().await;
    let run = test.submit(Sum::to_five()).await.unwrap();
    let error = run.result().await.unwrap_err().to_string();
    assert!(error.contains("at once"), "{error}");
}

#[tokio::test]
async fn a_child_that_was_replayed_is_looked_at_again_until_it_has_ended() {
    async fn parent(_: Input<Sum>, ctx: Ctx) -> Result<u64, TaskError> {
        let child = ctx.spawn("square", Square { of: 1 }).await?;
        ctx.sleep("pause", secs(30)).await?;
        child.result().await
    }
    let runs = Arc::new(AtomicUsize::new(0));
    let child = move |_: Input<Square>, ctx: Ctx| {
        let is_first = runs.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            match is_first {
                true => Err(TaskError::permanent("the first time")),
                false => ctx.sleep("long", secs(60)).await.map(|()| 7),
            }
        }
    };
    let test = TestEngine::new().task(parent).task(child).start().await;
    let run = test.submit(Sum::to_five()).await.unwrap();
    test.quiet().await;
    let steps = run.steps().await.unwrap();
    let child = steps[0].view.child.as_ref().unwrap().execution_id;
    test.client().run::<Square>(child).replay().await.unwrap();
    test.advance(secs(31)).await;
    assert_eq!(run.state().await.unwrap(), PublicState::Delayed);
    test.advance(secs(40)).await;
    assert_eq!(run.result().await.unwrap(), 7);
}

#[tokio::test]
async fn without_an_engine_children_are_prepared() {
    let ctx = Ctx::detached().with("square#0", &16_u64);
    let child = ctx.spawn("square", Square { of: 4 }).await.unwrap();
    assert_eq!(child.result().await.unwrap(), 16);
}
