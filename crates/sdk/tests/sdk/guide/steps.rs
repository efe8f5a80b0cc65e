//! Steps: keys, branches, failures, costs, and what handlers return.

use ff_sdk::prelude::*;
use ff_sdk::test::TestEngine;
use ff_sdk::{BudgetId, Tier};
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "invoices", output = usize)]
struct Invoices {
    orders: Vec<Order>,
    budget: BudgetId,
}

#[derive(Serialize, Deserialize)]
struct Order {
    id: String,
    url: String,
}

async fn fetch(url: &str) -> Result<String, TaskError> {
    Ok(format!("the page {url}"))
}

async fn parse(page: String) -> Result<usize, TaskError> {
    Ok(page.len())
}

async fn send(order: &Order, key: String) -> Result<String, TaskError> {
    Ok(format!("{} {key}", order.id))
}

#[derive(Serialize, Deserialize)]
struct Reply {
    tokens: u64,
}

async fn chat(_: usize) -> Result<Reply, TaskError> {
    Ok(Reply { tokens: 3 })
}

async fn invoices(Input(job): Input<Invoices>, ctx: Ctx) -> Result<usize, TaskError> {
    // [guide]
    for order in &job.orders {
        ctx.step("send", |s| send(order, s.key())).key(&order.id).await?;
    }
    // [end]

    // [guide]
    let fetches = job.orders.iter().map(|order| ctx.step("fetch", |_| fetch(&order.url)));
    let pages = try_join_all(fetches).await?;
    // [end]

    // [guide]
    async fn size(ctx: Ctx, order: &Order) -> Result<usize, TaskError> {
        let page = ctx.step("fetch", |_| fetch(&order.url)).await?;
        ctx.step("parse", |_| parse(page)).await
    }

    let branches = job.orders.iter().map(|order| size(ctx.scope(&order.id), order));
    let sizes = try_join_all(branches).await?;
    // [end]

    // [guide]
    let reply = ctx
        .step("llm", |_| chat(pages.len()))
        .timeout(secs(60))
        .retry(3, secs(1)..secs(8))
        .charge(job.budget, |reply: &Reply| [("tokens", reply.tokens)])
        .await?;
    // [end]
    assert_eq!(reply.tokens, 3);
    Ok(pages.len() + sizes.len())
}

#[tokio::test]
async fn steps_of_every_kind_are_recorded_once() {
    let test = TestEngine::new().task(invoices).start().await;
    let create = serde_json::json!({ "dimensions": { "tokens": { "hard": 1_000 } } });
    let create = serde_json::from_value(create).unwrap();
    let budget = test.client().create_budget(create).await.unwrap().budget_id;
    let order = |id: &str| Order {
        id: id.to_owned(),
        url: format!("example.org/{id}"),
    };
    let orders = vec![order("a"), order("b")];
    let run = test.submit(Invoices { orders, budget }).await.unwrap();
    assert_eq!(run.result().await.unwrap(), 4);
    let keys: Vec<String> = run
        .steps()
        .await
        .unwrap()
        .iter()
        .map(|step| step.view.key.to_string())
        .collect();
    for key in [
        "send[a]",
        "send[b]",
        "fetch#0",
        "fetch#1",
        "a/fetch#0",
        "b/parse#0",
        "llm#0",
    ] {
        assert!(keys.iter().any(|found| found == key), "{key} in {keys:?}");
    }
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "ask", output = String)]
struct Ask {
    question: String,
}

#[derive(Clone)]
struct Llm;

#[derive(Debug, thiserror::Error)]
enum LlmError {
    #[error("busy")]
    Busy { after: std::time::Duration },
    #[error("nothing was asked")]
    BadPrompt,
}

impl Llm {
    async fn chat(&self, model: &str, prompt: &str) -> Result<String, LlmError> {
        match (model, prompt) {
            (_, "") => Err(LlmError::BadPrompt),
            ("big", _) => Err(LlmError::Busy { after: secs(20) }),
            _ => Ok(format!("{model}: 42")),
        }
    }
}

// [guide]
async fn ask(Input(job): Input<Ask>, State(llm): State<Llm>, Tier(tier): Tier) -> Result<String, TaskError> {
    llm.chat(&tier.model, &job.question).await.map_err(|error| match error {
        LlmError::Busy { after } => TaskError::category("rate_limited", error).retry_after(after),
        LlmError::BadPrompt => TaskError::permanent(error),
    })
}
// [end]

async fn submit(ff: &Client, question: &str) -> ff_sdk::Result<Run<String>> {
    let question = question.to_owned();
    // [guide]
    let run = ff
        .submit(Ask { question })
        .retries(3)
        .backoff(secs(1)..secs(30))
        .tiers([tier("openai", "big", secs(60)), tier("local", "small", mins(3))])
        .await?;
    // [end]
    Ok(run)
}

#[tokio::test]
async fn failures_say_what_becomes_of_them() {
    let test = TestEngine::new().state(Llm).task(ask).start().await;
    let run = submit(test.client(), "why?").await.unwrap();
    test.advance(mins(1)).await;
    assert_eq!(run.result().await.unwrap(), "small: 42");
    let run = submit(test.client(), "").await.unwrap();
    let error = run.result().await.unwrap_err().to_string();
    assert!(error.contains("permanent: nothing was asked"), "{error}");
}
