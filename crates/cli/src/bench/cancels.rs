//! How soon a handler is told that its execution was cancelled, by the process where its worker's exchange waits.

use std::time::Instant;

use ff_sdk::Stop;
use ff_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::times::Times;
use super::worker::Working;

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "bench.cancel", output = ())]
struct Endless {}

/// What the handler tells.
enum Told {
    Runs,
    Stops(Instant, Stop),
}

type Teller = mpsc::UnboundedSender<Told>;

async fn endless(_: Input<Endless>, State(teller): State<Teller>, ctx: Ctx) -> Result<(), TaskError> {
    // Whoever measures may have given up.
    let _ = teller.send(Told::Runs);
    let stop = ctx.stopped().await;
    let _ = teller.send(Told::Stops(Instant::now(), stop.clone()));
    Err(stop.into())
}

/// Cancels so many executions, each while its handler runs; how long it took until each handler knew.
pub(super) async fn run(client: &Client, count: usize) -> anyhow::Result<Times> {
    let (teller, mut heard) = mpsc::unbounded_channel::<Told>();
    // Without room for another task: a worker that has some waits in an exchange anyway.
    let worker = Worker::new(client.clone()).concurrency(1).state(teller);
    let working = Working::start(worker.task(endless).build()?);
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let run = client.submit(Endless {}).await?;
        let Some(Told::Runs) = heard.recv().await else {
            anyhow::bail!("the handler did not begin");
        };
        let asked = Instant::now();
        run.cancel("measured").await?;
        let Some(Told::Stops(at, stop)) = heard.recv().await else {
            anyhow::bail!("the handler was not told");
        };
        anyhow::ensure!(stop == Stop::Cancelled, "the handler was told something else: {stop:?}");
        times.push(at - asked);
    }
    working.end().await?;
    Ok(Times::of(times))
}
