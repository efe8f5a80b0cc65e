//! S1: submit → claim → complete.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ff_backend::Backend;
use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, LaneOrder, Want};
use ff_core::command::lease::Complete;
use ff_core::command::submit::{CreateExecution, Created};
use ff_core::fabric::{Claims, On, Submit, Work};
use ff_core::id::ExecutionId;
use ff_core::name::{ExecutionKind, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::payload::Payload;
use ff_engine::Engine;

use super::Sync;
use super::counted::Counted;
use super::usage::cpu_time;
use crate::{open, say};

/// S1: submit, claim and complete tasks with concurrent workers.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Tasks to run
    #[arg(long, default_value_t = 20_000)]
    tasks: usize,
    /// Workers that claim at the same time
    #[arg(long, default_value_t = 16)]
    workers: usize,
    /// Tasks a worker takes at once
    #[arg(long, default_value_t = 32)]
    batch: usize,
    /// Bytes of every input
    #[arg(long, default_value_t = 4_096)]
    payload: usize,
    /// When a commit is on disk
    #[arg(long, value_enum, default_value_t = Sync::Full)]
    sync: Sync,
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let sqlite = open::store(&folder.path().join("bench.db"), arguments.sync.into())?;
    let counted = Arc::new(Counted::new(Arc::clone(&sqlite) as Arc<dyn Backend>));
    let engine = open::engine(Arc::clone(&counted) as Arc<dyn Backend>);
    let (started, cpu, calls, syncs) = (Instant::now(), cpu_time(), counted.calls(), sqlite.stats().commits);

    let left = Arc::new(AtomicUsize::new(arguments.tasks));
    let workers: Vec<_> = (0..arguments.workers)
        .map(|number| tokio::spawn(work(engine.clone(), number, arguments.batch, Arc::clone(&left))))
        .collect();
    let submitted = submit(&engine, arguments).await?;
    let mut completed = Vec::with_capacity(arguments.tasks);
    for worker in workers {
        completed.extend(worker.await??);
    }
    let took = started.elapsed();

    let distinct: HashSet<_> = completed.iter().copied().collect();
    anyhow::ensure!(distinct.len() == completed.len(), "a task was delivered twice");
    anyhow::ensure!(distinct == submitted.into_iter().collect(), "a task was lost");
    engine.stop().await;
    report(
        arguments,
        took,
        cpu_time().zip(cpu).map(|(after, before)| after - before),
        counted.calls() - calls,
        sqlite.stats().commits - syncs,
    );
    Ok(())
}

async fn submit(engine: &Engine, arguments: &Arguments) -> anyhow::Result<Vec<ExecutionId>> {
    let kind = ExecutionKind::parse("bench")?;
    let input = Payload::binary(vec![7; arguments.payload]);
    let mut ids = Vec::with_capacity(arguments.tasks);
    while ids.len() < arguments.tasks {
        let batch = (arguments.tasks - ids.len()).min(256);
        let commands = vec![CreateExecution::new(kind.clone(), input.clone()); batch];
        for created in engine.create_executions(commands).await? {
            match created? {
                Created::Created(id) => ids.push(id),
                Created::Duplicate { execution_id, .. } => anyhow::bail!("{execution_id} was there before"),
            }
        }
    }
    Ok(ids)
}

async fn work(engine: Engine, number: usize, batch: usize, left: Arc<AtomicUsize>) -> anyhow::Result<Vec<ExecutionId>> {
    let claim = Claim {
        namespace: Namespace::default_namespace(),
        worker: WorkerId::parse("bench")?,
        instance: WorkerInstanceId::parse(format!("bench-{number}"))?,
        incarnation: None,
        want: Want {
            lanes: vec![LaneId::default_lane()],
            lane_order: LaneOrder::Strict,
            capabilities: CapabilitySet::default(),
            max: batch,
            lease_ttl: None,
        },
        wait: ff_core::time::Duration::from_secs(1),
    };
    let mut completed = Vec::new();
    while left.load(Ordering::Relaxed) > 0 {
        let tasks = engine.claim(claim.clone()).await?;
        let ends = tasks.iter().map(|task| {
            let complete = Complete {
                fence: Some(task.fence),
                result: None,
            };
            engine.complete(On::new(task.execution_id, complete))
        });
        for ended in futures::future::join_all(ends).await {
            ended?;
        }
        left.fetch_sub(tasks.len(), Ordering::Relaxed);
        completed.extend(tasks.iter().map(|task| task.execution_id));
    }
    Ok(completed)
}

fn report(arguments: &Arguments, took: Duration, cpu: Option<Duration>, calls: u64, syncs: u64) {
    let tasks = arguments.tasks as f64;
    let Arguments {
        workers,
        batch,
        payload,
        sync,
        ..
    } = arguments;
    say::line(format_args!(
        "S1 on SQLite ({sync:?}): {tasks} tasks of {payload} bytes, {workers} workers, batches of {batch}"
    ));
    say::line(format_args!(
        "  {:.0} tasks/s, each delivered exactly once",
        tasks / took.as_secs_f64()
    ));
    say::line(format_args!(
        "  {:.3} store calls and {:.3} syncs per task",
        calls as f64 / tasks,
        syncs as f64 / tasks
    ));
    if let Some(cpu) = cpu {
        say::line(format_args!(
            "  {:.1} µs of CPU per task",
            cpu.as_secs_f64() * 1e6 / tasks
        ));
    }
}
