//! How soon a handler that starts again is where it was, behind a thousand recorded steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::Context;
use ff_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::run::Run;
use super::times::Times;
use super::worker::Working;

/// Steps that are recorded.
const STEPS: usize = 1_000;
/// How often the handler starts again behind them.
const TIMES: usize = 20;

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "bench.reentry", output = ())]
struct Long {}

/// A run of the handler.
struct Passed {
    began: Instant,
    /// When the last step was behind it.
    at: Instant,
    /// Bodies that ran.
    bodies: usize,
}

/// Where runs are told, and how many there are to be.
#[derive(Clone)]
struct Runs {
    told: mpsc::UnboundedSender<Passed>,
    left: Arc<AtomicUsize>,
}

/// Takes its steps one after the other, and then begins again.
async fn long(_: Input<Long>, State(runs): State<Runs>, ctx: Ctx) -> Result<Outcome<()>, TaskError> {
    let (began, bodies) = (Instant::now(), AtomicUsize::new(0));
    for number in 0..STEPS {
        let body = |_| async { Ok(number + bodies.fetch_add(1, Ordering::Relaxed)) };
        ctx.step("turn", body).await?;
    }
    let passed = Passed {
        began,
        at: Instant::now(),
        bodies: bodies.into_inner(),
    };
    // Whoever measures may have given up.
    let _ = runs.told.send(passed);
    match runs.left.fetch_sub(1, Ordering::Relaxed) {
        0 => Ok(Outcome::Done(())),
        _ => Ok(Outcome::Release),
    }
}

/// Lets a handler record its steps and start again, and prints how long it takes to be where it was.
pub(super) async fn run(bench: &Run) -> anyhow::Result<()> {
    let (told, mut passed) = mpsc::unbounded_channel();
    let runs = Runs {
        told,
        left: Arc::new(AtomicUsize::new(TIMES)),
    };
    let working = Working::start(Worker::new(bench.engine.clone()).state(runs).task(long).build()?);
    let run = Client::local(bench.engine.clone()).submit(Long {}).await?;
    let mut before = passed.recv().await.context("the worker has ended")?;
    anyhow::ensure!(before.bodies == STEPS, "{} of {STEPS} bodies ran", before.bodies);
    let (mut inside, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let again = passed.recv().await.context("the worker has ended")?;
        anyhow::ensure!(again.bodies == 0, "{} recorded bodies ran again", again.bodies);
        inside.push(again.at - again.began);
        whole.push(again.at - before.at);
        before = again;
    }
    run.result().await?;
    working.end().await?;
    let figures = bench.figures(format!("{STEPS} recorded steps again"));
    // From its first line, and from its release, with the claim that brings the steps.
    let figures = figures
        .times("reentry", &Times::of(inside))
        .times("release_to_reentry", &Times::of(whole));
    bench.tell(&figures)
}
