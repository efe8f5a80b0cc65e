//! The SQLite backend beside a hand-written queue on the same SQLite: `cargo run --release -p ff-bench --bin sqlite`, or only
//! one part of it: `-- commit`, `-- queue`, `-- growth 1000000`.
//!
//! Three questions: what group commit gives to concurrent committers; how much of a raw batched queue is left once records
//! are versioned, leased and indexed; and whether a store with a million executions costs more than one with ten thousand.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use ff_backend::Backend;
use ff_backend::due::Due;
use ff_backend_sqlite::{Durability, Options, SqliteBackend};
use ff_bench::raw::{BATCH, PAYLOAD_BYTES, RawQueue};
use ff_bench::{completion, median, rate, reservation, submission};
use ff_core::partition::{Family, PartitionCounts};
use ff_core::payload::Payload;

/// As the product's own binaries have it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Concurrent callers in the second measurement.
const CALLERS: usize = 2;
const ROUNDS: usize = 11;
const TASKS_PER_ROUND: usize = 40 * BATCH;
/// How often each single call is measured on each store.
const SINGLE_CALLS: usize = 1_000;

#[tokio::main]
async fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let part = words.next().unwrap_or_else(|| "all".to_owned());
    let stored: usize = words.next().map_or(Ok(1_000_000), |count| count.parse())?;
    let wants = |name: &str| part == name || part == "all";
    if wants("commit") {
        group_commit().await?;
    }
    if wants("queue") {
        beside_a_raw_queue().await?;
    }
    if wants("growth") {
        growth(stored).await?;
    }
    Ok(())
}

fn open(path: &Path) -> Result<Arc<SqliteBackend>> {
    let options = Options {
        durability: Durability::Full,
        ..Options::new(path)
    };
    Ok(Arc::new(SqliteBackend::open(&options)?))
}

fn payload() -> Payload {
    Payload::binary(vec![7_u8; PAYLOAD_BYTES])
}

/// One-record commits by 1, 16 and 256 concurrent callers, each waiting for its own.
async fn group_commit() -> Result<()> {
    println!("one-record commits, synchronous=FULL");
    let mut alone = f64::NAN;
    for committers in [1_usize, 16, 256] {
        let directory = tempfile::tempdir()?;
        let backend = open(&directory.path().join("store.db"))?;
        let each = (if committers == 1 { 1_000 } else { 20_000 }) / committers;
        let before = backend.stats();
        let start = Instant::now();
        let tasks: Vec<_> = (0..committers)
            .map(|_| tokio::spawn(commit_singly(Arc::clone(&backend), each)))
            .collect();
        for task in tasks {
            task.await??;
        }
        let per_second = rate(committers * each, start);
        let commits = backend.stats().commits - before.commits;
        if committers == 1 {
            alone = per_second;
        }
        let (times, syncs) = (per_second / alone, ratio(commits, committers * each));
        println!(
            "  {committers:>3} committers: {per_second:>8.0} transactions/s  {times:>5.1}x  {syncs:.3} fsyncs/transaction"
        );
    }
    Ok(())
}

async fn commit_singly(backend: Arc<SqliteBackend>, count: usize) -> Result<()> {
    let counts = PartitionCounts::default();
    let input = Payload::binary(vec![7_u8; 64]);
    for _ in 0..count {
        let now = backend.ping().await?;
        commit(&backend, vec![submission(&counts, &input, now)?]).await?;
    }
    Ok(())
}

async fn commit(backend: &SqliteBackend, batch: Vec<ff_backend::transaction::Transaction>) -> Result<()> {
    for committed in backend.commit(batch).await {
        committed?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn ratio(part: u64, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// create + reserve + complete in batches, interleaved with the raw queue; exact delivery is checked.
async fn beside_a_raw_queue() -> Result<()> {
    println!("create + reserve + complete, {PAYLOAD_BYTES} bytes, batches of {BATCH}, synchronous=FULL");
    let directory = tempfile::tempdir()?;
    let backend = open(&directory.path().join("store.db"))?;
    let raw = RawQueue::open(&directory.path().join("raw.db"))?;
    let (mut theirs, mut alone, mut together) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        theirs.push(raw.round(TASKS_PER_ROUND)?);
        alone.push(our_round(&backend, 1).await?);
        together.push(our_round(&backend, CALLERS).await?);
    }
    let theirs = median(theirs);
    println!("  raw queue                {theirs:>8.0} tasks/s");
    for (callers, figures) in [(1, alone), (CALLERS, together)] {
        let ours = median(figures);
        println!(
            "  FlowFabric, {callers} caller(s)  {ours:>8.0} tasks/s  {:>5.1} % of it",
            100.0 * ours / theirs
        );
    }
    Ok(())
}

/// Every caller works in batches as large as the raw queue's; what two of them wait for is shared.
async fn our_round(backend: &Arc<SqliteBackend>, callers: usize) -> Result<f64> {
    let start = Instant::now();
    let each = TASKS_PER_ROUND / callers;
    let callers = (0..callers).map(|_| tokio::spawn(run_tasks(Arc::clone(backend), each)));
    for caller in callers.collect::<Vec<_>>() {
        caller.await??;
    }
    Ok(rate(TASKS_PER_ROUND, start))
}

/// Submits, claims and completes `tasks` executions; those another caller submitted are as good as its own.
async fn run_tasks(backend: Arc<SqliteBackend>, tasks: usize) -> Result<()> {
    let counts = PartitionCounts::default();
    let input = payload();
    let mut completed = 0;
    for _ in 0..tasks / BATCH {
        let now = backend.ping().await?;
        let batch = (0..BATCH)
            .map(|_| submission(&counts, &input, now))
            .collect::<Result<_>>()?;
        commit(&backend, batch).await?;
        let reservation = backend.reserve(reservation(BATCH)?).await?;
        ensure!(
            reservation.tasks.iter().all(|task| task.input == input),
            "an input came back changed"
        );
        let done = reservation
            .tasks
            .iter()
            .map(|task| completion(task, reservation.now))
            .collect::<Result<Vec<_>>>()?;
        completed += done.len();
        commit(&backend, done).await?;
    }
    ensure!(completed == tasks, "{completed} of {tasks} tasks were delivered");
    Ok(())
}

/// The cost of single calls with few and with many executions stored, call by call in turns. The stored ones have ended.
async fn growth(stored: usize) -> Result<()> {
    let few = stored / 100;
    println!("single calls with {few} and with {stored} executions stored, synchronous=FULL");
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("many.db");
    let (small, large) = (open(&directory.path().join("few.db"))?, open(&path)?);
    fill(&small, few).await?;
    fill(&large, stored).await?;
    let (mut with_few, mut with_many) = (Costs::default(), Costs::default());
    for _ in 0..SINGLE_CALLS {
        with_few.measure(&small).await?;
        with_many.measure(&large).await?;
    }
    with_few.print_beside(with_many);
    drop(large);
    let bytes = std::fs::metadata(&path)?.len();
    println!(
        "  file: {:.0} bytes per stored execution (64-byte input)",
        ratio(bytes, stored)
    );
    Ok(())
}

async fn fill(backend: &SqliteBackend, count: usize) -> Result<()> {
    let counts = PartitionCounts::default();
    let input = Payload::binary(vec![7_u8; 64]);
    let mut left = count;
    while left > 0 {
        let some = left.min(1_000);
        let now = backend.ping().await?;
        commit(
            backend,
            (0..some)
                .map(|_| submission(&counts, &input, now))
                .collect::<Result<_>>()?,
        )
        .await?;
        let reservation = backend.reserve(reservation(some)?).await?;
        commit(
            backend,
            reservation
                .tasks
                .iter()
                .map(|task| completion(task, reservation.now))
                .collect::<Result<_>>()?,
        )
        .await?;
        left -= some;
    }
    Ok(())
}

/// Microseconds of each call.
#[derive(Default)]
struct Costs {
    commit: Vec<f64>,
    reserve: Vec<f64>,
    due: Vec<f64>,
}

impl Costs {
    async fn measure(&mut self, backend: &SqliteBackend) -> Result<()> {
        let counts = PartitionCounts::default();
        let input = Payload::binary(vec![7_u8; 64]);
        let now = backend.ping().await?;
        let one = vec![submission(&counts, &input, now)?];
        self.commit.push(timed(commit(backend, one)).await?.0);
        let ask = reservation(1)?;
        let (micros, reservation) = timed(async { Ok(backend.reserve(ask).await?) }).await?;
        self.reserve.push(micros);
        let done = reservation.tasks.iter().map(|task| completion(task, reservation.now));
        commit(backend, done.collect::<Result<_>>()?).await?;
        let ask = Due {
            partitions: counts.all(Family::Flow).collect(),
            limit: 64,
        };
        self.due.push(timed(async { Ok(backend.due(ask).await?) }).await?.0);
        Ok(())
    }

    fn print_beside(self, many: Costs) {
        let rows = [
            ("commit", self.commit, many.commit),
            ("reserve", self.reserve, many.reserve),
            ("due", self.due, many.due),
        ];
        for (call, few, many) in rows {
            let (few, many) = (median(few), median(many));
            let change = 100.0 * (many / few - 1.0);
            println!("  {call:<8} {few:>8.0} µs  {many:>8.0} µs  {change:>+6.1} %");
        }
    }
}

async fn timed<T>(call: impl Future<Output = Result<T>>) -> Result<(f64, T)> {
    let start = Instant::now();
    let answer = call.await?;
    Ok((start.elapsed().as_secs_f64() * 1e6, answer))
}
