//! Tests that let things go wrong, and what they find.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ff_core::state::PublicState;
use ff_core::time::Duration as Millis;
use ff_sdk::test::{TestEngine, crash_everywhere};
use ff_sdk::{BudgetId, Ctx, Input, OnHardLimit, State, Stop, Task, TaskError, days, hours, secs};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "ask", output = Answer)]
struct Ask {
    turns: u32,
    budget: Option<BudgetId>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Answer {
    text: String,
    /// When the answer was given.
    at: u64,
}

/// Asks and uses tools in turns, as agents do.
async fn agent(Input(job): Input<Ask>, ctx: Ctx) -> Result<Answer, TaskError> {
    let mut text = String::new();
    for turn in 0..job.turns {
        let mut reply = ctx.step("llm", |_| async {
            ctx.frames("token").push("thinking").await?;
            Ok(format!("use {turn}, "))
        });
        if let Some(budget) = job.budget {
            reply = reply.charge(budget, |reply| [("tokens", reply.len() as u64)]);
        }
        text += &reply.await?;
        text += &ctx
            .step("tool", |_| async { Ok(format!("got {turn}; ")) })
            .key(turn.to_string())
            .await?;
    }
    let at = ctx.step("clock", |_| async { Ok(ctx.now().as_millis()) }).await?;
    ctx.sleep("cool", secs(30)).await?;
    Ok(Answer { text, at })
}

const TWO_TURNS: Ask = Ask { turns: 2, budget: None };

#[tokio::test]
async fn a_crash_after_any_turn_of_an_agent_repays_nothing() {
    let crashes = crash_everywhere(
        || TestEngine::new().task(agent),
        |test| async move {
            let run = test.submit(TWO_TURNS).await.unwrap();
            test.advance(hours(1)).await;
            run.result().await.unwrap()
        },
    );
    let answer = crashes.compare(|answer| answer.text.clone()).await;
    assert_eq!(answer.text, "use 0, got 0; use 1, got 1; ");
}

/// Names a step differently each time it runs.
async fn moody(_: Input<Ask>, State(runs): State<Arc<AtomicU32>>, ctx: Ctx) -> Result<Answer, TaskError> {
    let run = runs.fetch_add(1, Ordering::SeqCst);
    let text = ctx
        .step("llm", |_| async { Ok(String::new()) })
        .key(run.to_string())
        .await?;
    ctx.sleep("cool", secs(30)).await?;
    Ok(Answer { text, at: 0 })
}

#[tokio::test]
#[should_panic(expected = "not repeatable: step llm[0]")]
async fn a_key_that_changes_from_run_to_run_is_found() {
    let runs = Arc::new(AtomicU32::new(0));
    let make = || TestEngine::new().state(Arc::clone(&runs)).task(moody);
    let scenario = |test: TestEngine| async move {
        let run = test.submit(TWO_TURNS).await.unwrap();
        test.advance(hours(1)).await;
        run.result().await.unwrap()
    };
    crash_everywhere(make, scenario).await;
}

/// Names a step by the attempt, which is another one after a crash.
async fn forgetful(_: Input<Ask>, ctx: Ctx) -> Result<Answer, TaskError> {
    let paid = ctx.step("llm", |_| async { Ok(()) }).key(ctx.attempt().to_string());
    paid.await?;
    ctx.step("after", |_| async { Ok(()) }).await?;
    Ok(Answer {
        text: String::new(),
        at: 0,
    })
}

#[tokio::test]
#[should_panic(
    expected = "not repeatable: with a crash after llm[0] there are steps that were not there before: llm[1]"
)]
async fn a_key_that_only_a_crash_changes_is_found() {
    let scenario = |test: TestEngine| async move {
        let run = test.submit(TWO_TURNS).await.unwrap();
        run.result().await.unwrap()
    };
    crash_everywhere(|| TestEngine::new().task(forgetful), scenario).await;
}

/// Counts in its result how often it has run.
async fn counting(_: Input<Ask>, State(runs): State<Arc<AtomicU32>>, ctx: Ctx) -> Result<Answer, TaskError> {
    let run = runs.fetch_add(1, Ordering::SeqCst);
    ctx.step("llm", |_| async { Ok(()) }).await?;
    Ok(Answer {
        text: run.to_string(),
        at: 0,
    })
}

#[tokio::test]
#[should_panic(expected = "with a crash after llm#0 the scenario comes to something else")]
async fn a_result_that_depends_on_how_often_a_handler_runs_is_found() {
    let make = || TestEngine::new().state(Arc::new(AtomicU32::new(0))).task(counting);
    let scenario = |test: TestEngine| async move {
        let run = test.submit(TWO_TURNS).await.unwrap();
        run.result().await.unwrap()
    };
    crash_everywhere(make, scenario).await;
}

#[tokio::test]
async fn time_passes_by_itself_while_all_is_quiet() {
    async fn patient(_: Input<Ask>, ctx: Ctx) -> Result<Answer, TaskError> {
        ctx.sleep("cool", days(2)).await?;
        let came: Option<String> = ctx.wait("never").timeout(days(3)).await?;
        Ok(Answer {
            text: format!("{came:?}"),
            at: 0,
        })
    }
    let test = TestEngine::new().task(patient).start().await;
    let begin = test.now();
    test.auto_advance();
    let run = test.submit(TWO_TURNS).await.unwrap();
    assert_eq!(run.result().await.unwrap().text, "None");
    test.quiet().await;
    assert_eq!(
        test.now().since(begin),
        Millis::from_hours(5 * 24),
        "and not beyond what somebody waited for"
    );
}

#[tokio::test]
async fn answers_that_get_lost_change_nothing() {
    let test = TestEngine::new().task(agent).start().await;
    test.drop_replies(0.3);
    test.auto_advance();
    let run = test.submit(Ask { turns: 8, budget: None }).await.unwrap();
    let text = run.result().await.unwrap().text;
    assert!(text.ends_with("use 7, got 7; "), "{text}");
    let steps = run.steps().await.unwrap();
    assert_eq!(steps.len(), 18, "each of them once");
}

async fn budget(test: &TestEngine, on_hard_limit: OnHardLimit) -> BudgetId {
    let budget = test.client().new_budget("a test").hard("tokens", 1_000);
    budget.on_hard_limit(on_hard_limit).await.unwrap()
}

#[tokio::test]
async fn a_budget_that_is_used_up_lets_nothing_begin() {
    let test = TestEngine::new().task(agent).start().await;
    let budget = budget(&test, OnHardLimit::Block).await;
    test.exhaust(budget).await.unwrap();
    let ask = Ask {
        turns: 1,
        budget: Some(budget),
    };
    let run = test.submit(ask).budget(budget).await.unwrap();
    test.quiet().await;
    assert_eq!(run.state().await.unwrap(), PublicState::RateLimited);
    assert_eq!(test.calls("llm"), 0);
}

#[tokio::test]
async fn a_budget_that_is_used_up_stops_what_runs() {
    async fn until_stopped(
        _: Input<Ask>,
        State(begun): State<Arc<tokio::sync::Notify>>,
        ctx: Ctx,
    ) -> Result<Answer, TaskError> {
        begun.notify_one();
        let stop = ctx.stopped().await;
        assert!(matches!(stop, Stop::Budget(_)), "{stop:?}");
        Err(stop.into())
    }
    let begun = Arc::new(tokio::sync::Notify::new());
    let test = TestEngine::new()
        .state(Arc::clone(&begun))
        .task(until_stopped)
        .start()
        .await;
    let budget = budget(&test, OnHardLimit::CancelActive).await;
    let run = test.submit(TWO_TURNS).budget(budget).await.unwrap();
    begun.notified().await;
    test.exhaust(budget).await.unwrap();
    test.quiet().await;
    assert_eq!(run.state().await.unwrap(), PublicState::Cancelled);
}
