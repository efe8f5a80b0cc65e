//! S2: suspend → signal → resumed, by a worker of the SDK that waits for work already. Then how soon a cancel reaches a handler.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_backend::counted::Counted;
use ff_core::command::signal::Delivered;
use ff_core::record::SignalEffect;
use ff_sdk::CallbackHandle;
use ff_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::cancels;
use super::measured::Measured;
use super::output::Figures;
use super::run::{Run, RunArguments};
use super::through::served;
use super::times::Times;
use super::worker::Working;

/// S2: how soon a handler goes on after a signal, and stops after a cancel.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Waits, one after the other
    #[arg(long, default_value_t = 1_000)]
    waits: usize,
    /// Cancels, one after the other, in process and through HTTP
    #[arg(long, default_value_t = 200)]
    cancels: usize,
    /// Rounds of all of it
    #[arg(long, default_value_t = 1)]
    rounds: usize,
    #[command(flatten)]
    run: RunArguments,
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "bench.wait", output = u64)]
struct Wait {}

/// What the handler tells.
enum Told {
    /// It is about to wait.
    Waits(Moment, CallbackHandle),
    /// What it waited for has come.
    GoesOn(Moment),
}

/// A moment, and what the store had been asked by then.
struct Moment {
    at: Instant,
    calls: u64,
    transactions: u64,
}

/// Where the handler tells things.
#[derive(Clone)]
struct Teller {
    told: mpsc::UnboundedSender<Told>,
    store: Arc<Counted>,
}

impl Teller {
    /// Whoever measures may have given up.
    fn tell(&self, what: Told) {
        let _ = self.told.send(what);
    }

    fn now(&self) -> Moment {
        Moment {
            at: Instant::now(),
            calls: self.store.calls(),
            transactions: self.store.transactions(),
        }
    }
}

async fn wait(_: Input<Wait>, State(teller): State<Teller>, ctx: Ctx) -> Result<u64, TaskError> {
    let callback = ctx.callback("go").await?;
    // Started again after the wait, there is nothing to hand out any more.
    if let Ok(handle) = callback.handle() {
        teller.tell(Told::Waits(teller.now(), handle.clone()));
    }
    let value = callback.wait::<u64>().await?;
    teller.tell(Told::GoesOn(teller.now()));
    Ok(value)
}

/// What was measured.
#[derive(Default)]
struct Cycles {
    signals: Vec<Duration>,
    whole: Vec<Duration>,
    pings: Vec<Duration>,
    calls_to_suspend: u64,
    calls_to_resume: u64,
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { waits, cancels, .. } = *arguments;
    let run = Run::begin(
        "s2",
        &arguments.run,
        &format!("{waits} waits, {cancels} cancels, one after the other"),
    )
    .await?;
    let near = Client::local(run.engine.clone());
    let far = Client::connect(served(&run.engine).await?).open()?;
    for _ in 0..arguments.rounds {
        let cycles = cycles(&run.measured, &near, waits).await?;
        run.tell(&cycles.told(run.figures("in process")))?;
        for (way, client) in [("in process", &near), ("through HTTP", &far)] {
            let times = cancels::run(client, cancels).await?;
            run.tell(&run.figures(format!("cancel, {way}")).times("cancel_to_told", &times))?;
        }
    }
    run.end().await;
    Ok(())
}

async fn cycles(measured: &Measured, client: &Client, count: usize) -> anyhow::Result<Cycles> {
    let (told, heard) = mpsc::unbounded_channel();
    let teller = Teller {
        told,
        store: Arc::clone(&measured.backend),
    };
    let working = Working::start(Worker::new(client.clone()).state(teller).task(wait).build()?);
    let mut sender = Sender {
        measured,
        client,
        heard,
        cycles: Cycles::default(),
    };
    for number in 0..count as u64 {
        sender.cycle(number).await?;
    }
    working.end().await?;
    Ok(sender.cycles)
}

/// Sends each handler what it waits for.
struct Sender<'a> {
    measured: &'a Measured,
    client: &'a Client,
    heard: mpsc::UnboundedReceiver<Told>,
    cycles: Cycles,
}

impl Sender<'_> {
    async fn cycle(&mut self, number: u64) -> anyhow::Result<()> {
        let store = &self.measured.backend;
        let run = self.client.submit(Wait {}).await?;
        let Some(Told::Waits(before, callback)) = self.heard.recv().await else {
            anyhow::bail!("the handler did not come to its wait");
        };
        // Asking whether it is suspended would be calls of its own: the next transaction is its suspension.
        store.transactions_beyond(before.transactions).await;
        let (sent, calls) = (Instant::now(), store.calls());
        let delivered = self.client.signal(&callback, "go", &number).await?;
        let Some(Told::GoesOn(after)) = self.heard.recv().await else {
            anyhow::bail!("the handler did not go on");
        };
        let value = run.result().await?;
        anyhow::ensure!(value == number, "a handler was brought {value} instead of {number}");
        anyhow::ensure!(resumes(&delivered), "a signal came before its wait: {delivered:?}");
        self.cycles.signals.push(after.at - sent);
        self.cycles.whole.push(after.at - before.at);
        self.cycles.calls_to_suspend += calls - before.calls;
        self.cycles.calls_to_resume += after.calls - calls;
        self.cycles.pings.extend(self.measured.ping().await?);
        Ok(())
    }
}

fn resumes(delivered: &Delivered) -> bool {
    matches!(delivered, Delivered::Accepted { effect, .. } if *effect == SignalEffect::ResumeConditionSatisfied)
}

impl Cycles {
    fn told(self, figures: Figures<'_>) -> Figures<'_> {
        let each = |calls: u64| calls as f64 / self.signals.len() as f64;
        let (suspend, resume) = (each(self.calls_to_suspend), each(self.calls_to_resume));
        let (signals, whole) = (Times::of(self.signals), Times::of(self.whole));
        let figures = figures
            .times("signal_to_resumed", &signals)
            .times("suspend_to_resumed", &whole)
            .with("store_calls_to_suspend", suspend)
            .with("store_calls_to_resume", resume);
        if self.pings.is_empty() {
            return figures;
        }
        let pings = Times::of(self.pings);
        let trips = |times: &Times| times.at(50).as_secs_f64() / pings.at(50).as_secs_f64();
        figures
            .times("ping", &pings)
            .with("signal_to_resumed_in_pings", trips(&signals))
            .with("suspend_to_resumed_in_pings", trips(&whole))
    }
}
