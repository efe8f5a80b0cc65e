//! S1 through HTTP: the same load in process and through a client and a server on this machine, round by round, and how long
//! one caller waits for a result.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ff_core::fabric::{Fabric, Operation, Reply, Result, Transport};
use ff_engine::Engine;
use ff_sdk::Remote;
use ff_sdk::remote::Waited;
use ff_server::{Server, Settings, serve};

use super::load::{Loop, Workers};
use super::measured::Measured;
use super::medians::median;
use super::output::Figures;
use super::submit::task;
use super::throughput::{Arguments, round};
use super::times::Times;

/// Callers that wait for a result at the same time.
const IN_FLIGHT: usize = 16;
/// How long each of them does.
const PATIENCE: ff_core::time::Duration = ff_core::time::Duration::from_secs(30);
/// Results they wait for, all together.
const WAITS: usize = 4_000;

/// Runs the scenario both ways and prints its figures.
pub(super) async fn run(measured: &Measured, engine: &Engine, arguments: &Arguments) -> anyhow::Result<()> {
    let near: Arc<dyn Fabric> = Arc::new(engine.clone());
    let client = Arc::new(Counting {
        client: Remote::connect(served(engine).await?).open()?,
        calls: AtomicU64::new(0),
    });
    let far: Arc<dyn Fabric> = Arc::clone(&client) as Arc<dyn Fabric>;
    let (mut ratios, output) = (Vec::new(), arguments.output);
    for _ in 0..arguments.rounds {
        let mut rates = Vec::new();
        for (way, fabric) in [("in process", &near), ("through HTTP", &far)] {
            let before = client.calls.load(Ordering::Relaxed);
            let round = round(
                measured,
                std::slice::from_ref(fabric),
                Loop::Exchange,
                arguments.amount(),
            )
            .await?;
            let calls = client.calls.load(Ordering::Relaxed) - before;
            let figures = round.figures("s1", measured, arguments.tasks, way);
            output.tell(&with_calls(figures, calls, arguments.tasks))?;
            rates.push(round.rate(arguments.tasks));
        }
        ratios.extend(rates.last().zip(rates.first()).map(|(far, near)| far / near));
    }
    let ratio = 100.0 * median(&mut ratios);
    output.say(format_args!("  median: {ratio:.1} % of the rate in process"));
    let (before, calls) = (measured.usage().await?, client.calls.load(Ordering::Relaxed));
    let started = Instant::now();
    let waits = waits(&client, arguments).await?;
    let calls = client.calls.load(Ordering::Relaxed) - calls + WAITS as u64;
    let (took, used) = (started.elapsed(), measured.usage().await?.since(before));
    let figures = Figures::of("s1", &measured.name, format!("through HTTP, {IN_FLIGHT} in flight"))
        .done(WAITS, took)
        .using(used.each(WAITS))
        .times("submit_to_result", &waits);
    output.tell(&with_calls(figures, calls, WAITS))
}

fn with_calls(figures: Figures<'_>, calls: u64, tasks: usize) -> Figures<'_> {
    match calls {
        0 => figures,
        _ => figures.with("http_calls_per_task", calls as f64 / tasks as f64),
    }
}

/// A client that counts its calls.
struct Counting {
    client: Remote,
    calls: AtomicU64,
}

#[async_trait]
impl Transport for Counting {
    async fn send(&self, operation: &'static Operation, json: Vec<u8>) -> Result<Reply> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.client.send(operation, json).await
    }
}

/// Where a server over `engine` is reached.
pub(super) async fn served(engine: &Engine) -> anyhow::Result<String> {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let server = Server::new(engine.clone(), Settings::loopback());
    tokio::spawn(async move { serve(&server, listener, None, std::future::pending()).await });
    Ok(format!("http://{address}"))
}

/// How long each of many callers waited from its submission to the end of its task.
async fn waits(client: &Arc<Counting>, arguments: &Arguments) -> anyhow::Result<Times> {
    let fabric: Arc<dyn Fabric> = Arc::clone(client) as Arc<dyn Fabric>;
    let workers = Workers::start(std::slice::from_ref(&fabric), Loop::Exchange, arguments.load, WAITS);
    let ask = || ask(client.client.clone(), WAITS / IN_FLIGHT, arguments.load.payload);
    let callers = (0..IN_FLIGHT).map(|_| tokio::spawn(ask()));
    let mut waits = Vec::with_capacity(WAITS);
    for caller in callers.collect::<Vec<_>>() {
        waits.extend(caller.await??);
    }
    workers.completed().await?;
    Ok(Times::of(waits))
}

async fn ask(client: Remote, times: usize, payload: usize) -> anyhow::Result<Vec<Duration>> {
    let command = task(payload)?;
    let mut waits = Vec::with_capacity(times);
    for _ in 0..times {
        let started = Instant::now();
        let waited = client.submit_and_wait(&command, PATIENCE).await?;
        anyhow::ensure!(matches!(waited, Waited::Completed(_)), "{waited:?}");
        waits.push(started.elapsed());
    }
    Ok(waits)
}
