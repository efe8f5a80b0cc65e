//! What the same Valkey does as a bare queue: push, move, acknowledge, pipelined, with nothing kept about a task.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;

use super::load::LoadArguments;

/// The list that is pushed to.
const QUEUE: &str = "ff-bench:raw";

/// Runs `tasks` through a list, each delivered exactly once; how long that took.
pub(crate) async fn round(
    connection: &MultiplexedConnection,
    load: LoadArguments,
    tasks: usize,
) -> anyhow::Result<Duration> {
    let left = Arc::new(AtomicUsize::new(tasks));
    let started = Instant::now();
    let workers: Vec<_> = (0..load.workers)
        .map(|number| tokio::spawn(work(connection.clone(), number, load.batch, Arc::clone(&left))))
        .collect();
    let pushers: Vec<_> = load
        .shares(tasks)
        .into_iter()
        .map(|share| tokio::spawn(push(connection.clone(), load, share)))
        .collect();
    for pusher in pushers {
        pusher.await??;
    }
    let mut seen = vec![false; tasks];
    for worker in workers {
        for number in worker.await?? {
            anyhow::ensure!(
                !std::mem::replace(&mut seen[number], true),
                "the raw queue delivered a task twice"
            );
        }
    }
    let took = started.elapsed();
    anyhow::ensure!(seen.iter().all(|seen| *seen), "the raw queue lost a task");
    Ok(took)
}

async fn push(
    mut connection: MultiplexedConnection,
    load: LoadArguments,
    share: std::ops::Range<usize>,
) -> anyhow::Result<()> {
    let numbers: Vec<usize> = share.collect();
    for chunk in numbers.chunks(256) {
        let mut pipeline = redis::pipe();
        for number in chunk {
            let mut payload = vec![7; load.payload.max(8)];
            payload[..8].copy_from_slice(&(*number as u64).to_be_bytes());
            pipeline.cmd("RPUSH").arg(QUEUE).arg(payload).ignore();
        }
        pipeline.query_async::<()>(&mut connection).await?;
    }
    Ok(())
}

async fn work(
    mut connection: MultiplexedConnection,
    number: usize,
    batch: usize,
    left: Arc<AtomicUsize>,
) -> anyhow::Result<Vec<usize>> {
    let own = format!("{QUEUE}:{number}");
    let mut done = Vec::new();
    while left.load(Ordering::Relaxed) > 0 {
        let mut moves = redis::pipe();
        for _ in 0..batch {
            moves.cmd("LMOVE").arg(QUEUE).arg(&own).arg("LEFT").arg("RIGHT");
        }
        let moved: Vec<Option<Vec<u8>>> = moves.query_async(&mut connection).await?;
        let moved: Vec<Vec<u8>> = moved.into_iter().flatten().collect();
        if moved.is_empty() {
            tokio::task::yield_now().await;
            continue;
        }
        let mut acknowledge = redis::pipe();
        for payload in &moved {
            acknowledge.cmd("LPOP").arg(&own).ignore();
            let mut number = [0; 8];
            number.copy_from_slice(&payload[..8]);
            done.push(usize::try_from(u64::from_be_bytes(number))?);
        }
        acknowledge.query_async::<()>(&mut connection).await?;
        left.fetch_sub(moved.len(), Ordering::Relaxed);
    }
    Ok(done)
}
