//! What steps cost, and what happens when a budget is used up.

use ff_core::error::Code;
use ff_core::name::Dimension;
use ff_core::state::PublicState;
use ff_sdk::{BudgetId, Ctx, Error, Fabric, Handler, Input, OnBreach, OnHardLimit, TaskError, Worker, days};

use crate::scene::Scene;
use crate::working::{Hello, Working, until};

async fn budget(scene: &Scene, on_hard_limit: OnHardLimit) -> BudgetId {
    let budget = scene.client.new_budget("what a test spends").hard("tokens", 10);
    budget.on_hard_limit(on_hard_limit).await.unwrap()
}

async fn spent(scene: &Scene, budget: BudgetId) -> u64 {
    scene.settle().await;
    let view = scene.engine.get_budget(budget).await.unwrap();
    view.dimensions[&Dimension::parse("tokens").unwrap()].usage
}

fn working<H: Handler<Args>, Args: 'static>(scene: &Scene, handler: H) -> Working {
    Working::new(&Worker::new(scene.client.clone()).task(handler).build().unwrap())
}

/// Takes three turns of six tokens each.
fn turns(budget: BudgetId, on_breach: Option<OnBreach>) -> impl Handler<(Input<Hello>, Ctx), Task = Hello> {
    move |_: Input<Hello>, ctx: Ctx| async move {
        let mut sum = 0;
        for _ in 0..3 {
            let turn = ctx
                .step("llm", |_| async { Ok(6_u64) })
                .charge(budget, |tokens| [("tokens", *tokens)]);
            sum += match on_breach {
                Some(what) => turn.on_breach(what).await?,
                None => turn.await?,
            };
        }
        ctx.usage("extra", budget, [("tokens", 1)]).await?;
        Ok::<_, TaskError>(sum.to_string())
    }
}

#[tokio::test]
async fn a_task_whose_policy_names_the_budget_waits_for_more_of_it_and_goes_on() {
    for scene in Scene::each() {
        let budget = budget(&scene, OnHardLimit::Block).await;
        let working = working(&scene, turns(budget, None));
        let run = scene.client.submit(Hello::ana()).budget(budget).await.unwrap();
        until(|| async { run.state().await.unwrap() == PublicState::RateLimited }).await;
        assert_eq!(spent(&scene, budget).await, 12);
        scene.client.change_budget(budget).hard("tokens", 100).await.unwrap();
        scene.settle().await;
        assert_eq!(run.result().await.unwrap(), "18");
        assert_eq!(spent(&scene, budget).await, 19);
        working.end().await.unwrap();
    }
}

#[tokio::test]
async fn a_task_that_does_not_name_the_budget_fails_and_is_not_retried() {
    let scene = Scene::local();
    let budget = budget(&scene, OnHardLimit::Block).await;
    let working = working(&scene, turns(budget, None));
    let run = scene.client.submit(Hello::ana()).retries(3).await.unwrap();
    let Error::Ended(ended) = run.result().await.unwrap_err() else {
        panic!("the budget is used up")
    };
    assert_eq!(ended.failure.unwrap().category.as_str(), "budget");
    assert_eq!(spent(&scene, budget).await, 12);
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_step_may_go_on_all_the_same() {
    let scene = Scene::local();
    let budget = budget(&scene, OnHardLimit::Block).await;
    let handler = move |_: Input<Hello>, ctx: Ctx| async move {
        for _ in 0..3 {
            let turn = ctx
                .step("llm", |_| async { Ok(6_u64) })
                .charge(budget, |tokens| [("tokens", *tokens)]);
            turn.on_breach(OnBreach::Ignore).await?;
        }
        Ok::<_, TaskError>("18".to_owned())
    };
    let working = working(&scene, handler);
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    assert_eq!(run.result().await.unwrap(), "18");
    assert_eq!(spent(&scene, budget).await, 18);
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_budget_that_cancels_what_runs_is_obeyed() {
    let scene = Scene::local();
    let budget = budget(&scene, OnHardLimit::CancelActive).await;
    let working = working(&scene, turns(budget, None));
    let run = scene.client.submit(Hello::ana()).budget(budget).await.unwrap();
    until(|| async { run.state().await.unwrap() == PublicState::Cancelled }).await;
    assert_eq!(spent(&scene, budget).await, 12);
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_budget_that_is_not_there_fails_the_task_after_the_record() {
    let scene = Scene::local();
    let nowhere = BudgetId::from_uuid(uuid::Uuid::now_v7());
    let working = working(&scene, turns(nowhere, None));
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    let error = run.result().await.unwrap_err().to_string();
    assert!(
        error.contains("step llm#0 is recorded, but there is no budget"),
        "{error}"
    );
    assert_eq!(run.steps().await.unwrap().len(), 1);
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_budget_is_what_was_said_and_other_limits_stay() {
    for scene in Scene::each() {
        let make = scene.client.new_budget("tenant a").soft("tokens", 8).hard("tokens", 10);
        let budget = make.hard("calls", 3).resets_every(days(1)).await.unwrap();
        scene.client.change_budget(budget).hard("tokens", 20).await.unwrap();
        let view = scene.engine.get_budget(budget).await.unwrap();
        let limits = |name: &str| view.dimensions[&Dimension::parse(name).unwrap()].limits;
        assert_eq!(
            (view.scope.as_str(), view.reset_interval),
            ("tenant a", Some(ff_core::time::Duration::from_hours(24)))
        );
        assert_eq!(
            (limits("tokens").soft, limits("tokens").hard, limits("calls").hard),
            (None, Some(20), Some(3))
        );
        let refused = scene.client.new_budget("").hard("Not A Name", 1).await.unwrap_err();
        assert_eq!(refused.code(), Some(Code::InvalidInput));
    }
}
