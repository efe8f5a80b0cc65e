//! Sleeping, waiting, approvals, callbacks, streaming, stopping.

use ff_sdk::prelude::*;
use ff_sdk::test::TestEngine;
use ff_sdk::{CallbackHandle, Decided, Happening};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "order", output = String)]
struct Order {
    article: String,
}

#[derive(Serialize, Deserialize)]
struct Note {
    text: String,
}

/// Who packs parcels, and calls back when one is on its way.
#[derive(Clone)]
struct Warehouse(mpsc::UnboundedSender<CallbackHandle>);

impl Warehouse {
    async fn pack(&self, _: &str, callback: &CallbackHandle) -> Result<(), TaskError> {
        self.0.send(callback.clone())?;
        Ok(())
    }
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "ship", output = u64)]
struct Ship {}

async fn ship(_: Input<Ship>, ctx: Ctx) -> Result<u64, TaskError> {
    // [guide]
    ctx.sleep("cooling-off", days(14)).await?;
    let paid: Option<u64> = ctx.wait("paid").timeout(days(3)).await?;
    let came = ctx.wait_all::<u64>("gate", ["packed", "weighed"]).await?;
    // [end]
    Ok(paid.unwrap_or_default() + came["packed"] + came["weighed"])
}

async fn order(Input(job): Input<Order>, State(warehouse): State<Warehouse>, ctx: Ctx) -> Result<String, TaskError> {
    // [guide]
    let review = ctx.approval::<Note>("review").show(&job.article);
    let decision = review.expires(days(7)).await?;
    if !decision.approved {
        return Err(TaskError::permanent(format!("rejected by {}", decision.by)));
    }
    // [end]

    // [guide]
    let packed = ctx.callback("packed").await?;
    ctx.step("pack", |_| async {
        warehouse.pack(&job.article, packed.handle()?).await
    })
    .await?;
    let parcel: Option<String> = packed.wait().timeout(days(3)).await?;
    // [end]

    // [guide]
    let mut out = ctx.frames("log");
    for line in ["closing", "closed"] {
        tokio::select! {
            stop = ctx.stopped() => return Err(stop.into()),
            pushed = out.push(line) => pushed?,
        }
    }
    // [end]
    Ok(parcel.unwrap_or_else(|| "lost".to_owned()))
}

async fn answer(
    ff: &Client,
    run: &Run<String>,
    mut called: mpsc::UnboundedReceiver<CallbackHandle>,
) -> ff_sdk::Result<()> {
    let text = "go".to_owned();
    // [guide]
    run.approve("review").note(&Note { text }).await?;
    let callback: CallbackHandle = called.recv().await.expect("the warehouse was told");
    ff.signal(&callback, "packed", "parcel 7").await?;
    // [end]
    Ok(())
}

async fn watch(ff: &Client, run: &Run<String>) -> ff_sdk::Result<Vec<String>> {
    let mut lines = Vec::new();
    // [guide]
    let mut frames = run.frames().of_type("log").await?;
    while let Some(frame) = frames.next().await.transpose()? {
        lines.push(frame.json::<String>()?);
    }

    let mut ends = ff.events(Events::of_execution(run.id()).ended().from_oldest()).await?;
    let end = ends.next().await.transpose()?;
    // [end]
    let end = end.and_then(ff_sdk::Observed::event).unwrap();
    assert_eq!(end.line.what, Happening::Completed);
    Ok(lines)
}

#[tokio::test]
async fn an_order_waits_for_time_for_a_person_and_for_a_call() {
    let (calls, called) = mpsc::unbounded_channel();
    let test = TestEngine::new().state(Warehouse(calls)).task(order).start().await;
    let article = "lamp".to_owned();
    let run = test.submit(Order { article }).await.unwrap();
    test.advance(days(1)).await;
    answer(test.client(), &run, called).await.unwrap();
    assert_eq!(run.result().await.unwrap(), "parcel 7");
    assert_eq!(watch(test.client(), &run).await.unwrap(), ["closing", "closed"]);
}

#[tokio::test]
async fn a_handler_runs_without_an_engine() {
    let decided = Decided::<()> {
        approved: false,
        by: "ana".to_owned(),
        verified: false,
        note: None,
        reason: None,
    };
    let (calls, _) = mpsc::unbounded_channel();
    let job = Order {
        article: "lamp".to_owned(),
    };
    let ctx = Ctx::detached().with("review#0", &decided);
    let error = order(Input(job), State(Warehouse(calls)), ctx).await.unwrap_err();
    assert_eq!(error.to_string(), "rejected by ana");

    let came = std::collections::BTreeMap::from([("packed", 1), ("weighed", 2)]);
    let ctx = Ctx::detached().with("paid#0", &Some(40)).with("gate#0", &came);
    assert_eq!(ship(Input(Ship {}), ctx).await.unwrap(), 43);
}
