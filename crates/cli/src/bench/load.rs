//! What workers do: claim, complete, and remember what they were given.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, Exchange, Finish, LaneOrder, Task, Want};
use ff_core::command::lease::Complete;
use ff_core::command::worker::WorkerLoad;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::record::Incarnation;
use futures::future::join_all;

use super::left::Left;
use super::steps::record;

/// How hard workers work.
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct LoadArguments {
    /// Clients that submit at the same time, 256 tasks at once
    #[arg(long, default_value_t = 4)]
    pub(crate) submitters: usize,
    /// Workers that claim at the same time
    #[arg(long, default_value_t = 16)]
    pub(crate) workers: usize,
    /// Tasks a worker takes at once
    #[arg(long, default_value_t = 32)]
    pub(crate) batch: usize,
    /// Bytes of every input
    #[arg(long, default_value_t = 4_096)]
    pub(crate) payload: usize,
}

impl fmt::Display for LoadArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            submitters,
            workers,
            batch,
            payload,
        } = self;
        write!(
            f,
            "{payload} bytes each, {submitters} submitters, {workers} workers, batches of {batch}"
        )
    }
}

/// How a worker speaks to the engine.
#[derive(Clone, Copy)]
pub(crate) enum Loop {
    /// A claim, then a call for each task that is done.
    Calls,
    /// The same, and before a task is done it records so many steps, one call after the other.
    Steps(usize),
    /// One call for all of it, as workers on other machines do.
    Exchange,
}

/// Workers under way until so many tasks are done.
pub(crate) struct Workers {
    left: Arc<Left>,
    working: Vec<tokio::task::JoinHandle<anyhow::Result<Vec<Done>>>>,
}

/// A task that was completed.
pub(super) struct Done {
    pub(super) id: ExecutionId,
    /// When its worker had it.
    pub(super) claimed: Instant,
}

impl Workers {
    /// Starts them. Where there are several ways to the engine each worker has one of them.
    pub(crate) fn start(fabrics: &[Arc<dyn Fabric>], by: Loop, load: LoadArguments, tasks: usize) -> Self {
        let left = Left::new(tasks);
        let start = |number| {
            let (fabric, left) = (Arc::clone(&fabrics[number % fabrics.len()]), Arc::clone(&left));
            match by {
                Loop::Calls => tokio::spawn(work(fabric, number, load, left, 0)),
                Loop::Steps(steps) => tokio::spawn(work(fabric, number, load, left, steps)),
                Loop::Exchange => tokio::spawn(exchange(fabric, number, load.batch, left)),
            }
        };
        let working = (0..load.workers).map(start).collect();
        Self { left, working }
    }

    /// What they have to do.
    pub(super) fn left(&self) -> &Arc<Left> {
        &self.left
    }

    /// Everything they completed, each worker's in its order.
    pub(crate) async fn completed(self) -> anyhow::Result<Vec<ExecutionId>> {
        Ok(self.done().await?.iter().map(|done| done.id).collect())
    }

    /// The same, with when they had it.
    pub(super) async fn done(self) -> anyhow::Result<Vec<Done>> {
        let mut done = Vec::new();
        for worker in self.working {
            done.extend(worker.await??);
        }
        Ok(done)
    }
}

/// Refuses figures of a run that lost a task or delivered one twice.
pub(crate) fn check_delivery(submitted: &[ExecutionId], completed: &[ExecutionId]) -> anyhow::Result<()> {
    let distinct: HashSet<_> = completed.iter().copied().collect();
    anyhow::ensure!(distinct.len() == completed.len(), "a task was delivered twice");
    anyhow::ensure!(distinct == submitted.iter().copied().collect(), "a task was lost");
    Ok(())
}

/// A claim of worker `number` that waits up to `wait_secs` for work.
pub(crate) fn claim(number: usize, max: usize, wait_secs: u64) -> anyhow::Result<Claim> {
    Ok(Claim {
        namespace: Namespace::default_namespace(),
        worker: WorkerId::parse("bench")?,
        instance: WorkerInstanceId::parse(format!("bench-{number}"))?,
        incarnation: None,
        want: Want {
            lanes: vec![LaneId::default_lane()],
            lane_order: LaneOrder::Strict,
            capabilities: CapabilitySet::default(),
            max,
            lease_ttl: None,
        },
        wait: ff_core::time::Duration::from_secs(wait_secs),
    })
}

/// Completes a task, without a result.
pub(super) async fn complete(fabric: &dyn Fabric, task: &Task) -> anyhow::Result<()> {
    fabric.complete(On::new(task.execution_id, completion(task))).await?;
    Ok(())
}

fn completion(task: &Task) -> Complete {
    Complete {
        fence: Some(task.fence),
        result: None,
        ..Complete::default()
    }
}

async fn work(
    fabric: Arc<dyn Fabric>,
    number: usize,
    load: LoadArguments,
    left: Arc<Left>,
    steps: usize,
) -> anyhow::Result<Vec<Done>> {
    let claim = claim(number, load.batch, 1)?;
    let mut completed = Vec::new();
    loop {
        let none_left = left.none();
        if left.count() == 0 {
            return Ok(completed);
        }
        let tasks = tokio::select! {
            tasks = fabric.claim(claim.clone()) => tasks?,
            () = none_left => continue,
        };
        let claimed = Instant::now();
        let ends = tasks.iter().map(async |task| {
            record(&*fabric, task, steps, load.payload).await?;
            complete(&*fabric, task).await
        });
        for ended in join_all(ends).await {
            ended?;
        }
        completed.extend(tasks.iter().map(|task| Done {
            id: task.execution_id,
            claimed,
        }));
        left.is_done(tasks.len());
    }
}

/// The same in one call a turn: what is done goes out with the wish for more.
async fn exchange(fabric: Arc<dyn Fabric>, number: usize, batch: usize, left: Arc<Left>) -> anyhow::Result<Vec<Done>> {
    let claim = claim(number, batch, 1)?;
    // The same process in every round.
    let incarnation = Incarnation(uuid::Uuid::from_u128(number as u128 + 1));
    let (mut completed, mut done, mut claimed) = (Vec::new(), Vec::<Task>::new(), Instant::now());
    loop {
        let none_left = left.none();
        let is_over = left.count() == 0;
        if is_over && done.is_empty() {
            return Ok(completed);
        }
        let finish = |task: &Task| On::new(task.execution_id, Finish::Complete(completion(task)));
        let turn = Exchange {
            namespace: claim.namespace.clone(),
            worker: claim.worker.clone(),
            instance: claim.instance.clone(),
            incarnation,
            load: WorkerLoad::default(),
            finished: done.iter().map(finish).collect(),
            renew: Vec::new(),
            frames: Vec::new(),
            usage: Vec::new(),
            want: (!is_over).then(|| claim.want.clone()),
            wait: claim.wait,
            request_id: None,
            steps: Vec::new(),
        };
        let exchanged = tokio::select! {
            exchanged = fabric.exchange(turn) => exchanged?,
            () = none_left, if done.is_empty() => continue,
        };
        for result in exchanged.results {
            result?;
        }
        completed.extend(done.iter().map(|task| Done {
            id: task.execution_id,
            claimed,
        }));
        if !done.is_empty() {
            left.is_done(done.len());
        }
        (done, claimed) = (exchanged.tasks, Instant::now());
    }
}
