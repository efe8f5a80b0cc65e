//! apalis on its Redis, PostgreSQL and SQLite storages: tasks pushed in bulk, fetched and acknowledged by the batch.

mod asked;
mod cpu;
mod job;
mod store;

use std::sync::Arc;
use std::time::{Duration, Instant};

use asked::Asked;
use job::{Job, Runs};
use serde_json::json;
use store::Store;

/// The version that the lock names.
const VERSION: &str = "1.0.0";
/// Tasks in one call that submits.
const BATCH: usize = 256;
/// Callers that submit at the same time.
const SUBMITTERS: usize = 4;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let asked = Asked::read(std::env::args().skip(1))?;
    let store = Arc::new(Store::open(&asked).await?);
    let all = asked.warmup + asked.tasks;
    let runs = Arc::new(Runs::of(all));
    let payload: Arc<str> = job::incompressible(asked.payload)?.into();
    let workers: Vec<_> = (0..asked.workers).map(|number| store.work(number, &runs)).collect();
    // Plans, pools and pages of a store that was just made are slow the first time.
    round(&store, &runs, &payload, 0..asked.warmup).await?;
    let before = cpu::time_of(&asked.store_processes)?;
    let started = Instant::now();
    round(&store, &runs, &payload, asked.warmup..all).await?;
    let seconds = started.elapsed().as_secs_f64();
    let used = cpu::time_of(&asked.store_processes)?.saturating_sub(before);
    for worker in workers {
        worker.stop().await?;
    }
    runs.check()?;
    let done = store.done().await?;
    anyhow::ensure!(done == all, "{done} of {all} tasks are done");
    let tasks = asked.tasks as f64;
    let mut line = json!({
        "peer": if asked.leases { "apalis-leases" } else { "apalis" },
        "version": VERSION,
        "store": store.name(),
        "scenario": "s1",
        "tasks": asked.tasks,
        "seconds": seconds,
        "per_second": tasks / seconds,
        "exact": true,
    });
    if !asked.store_processes.is_empty() {
        line["store_cpu_us_per_task"] = json!(used.as_secs_f64() * 1e6 / tasks);
    }
    println!("{line}");
    Ok(())
}

/// Submits tasks, and returns when the store has taken all of them as done.
async fn round(
    store: &Arc<Store>,
    runs: &Runs,
    payload: &Arc<str>,
    numbers: std::ops::Range<usize>,
) -> anyhow::Result<()> {
    let end = numbers.end;
    let share = numbers.len().div_ceil(SUBMITTERS);
    let submitters: Vec<_> = (0..SUBMITTERS)
        .map(|nth| {
            let (store, payload) = (Arc::clone(store), Arc::clone(payload));
            let from = end.min(numbers.start + nth * share);
            let own: Vec<usize> = (from..end.min(from + share)).collect();
            tokio::spawn(async move {
                for batch in own.chunks(BATCH) {
                    let jobs = batch.iter().map(|number| Job::new(*number, &payload));
                    store.submit(jobs.collect()).await?;
                }
                anyhow::Ok(())
            })
        })
        .collect();
    for submitter in submitters {
        submitter.await??;
    }
    runs.reach(end).await;
    // What has run is acknowledged by the batch, a little later.
    while store.done().await? < end {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}
