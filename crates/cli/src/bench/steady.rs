//! S1 without an end: whatever was done makes room for as much more.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_core::command::submit::CreateExecution;
use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{interval, sleep};

use super::left::Left;
use super::load::{LoadArguments, Loop, Workers, check_delivery};
use super::submit::{BATCH, submit_batch};

/// Batches that are submitted and not done: every worker has something to do.
const BATCHES_AHEAD: usize = 16;
/// More than is ever done.
const ENDLESS: usize = usize::MAX / 2;

/// Tasks that are submitted and done until somebody ends it.
pub(super) struct Steady {
    workers: Workers,
    submitters: Vec<JoinHandle<anyhow::Result<Vec<ExecutionId>>>>,
    is_over: watch::Sender<bool>,
}

impl Steady {
    /// Starts with such tasks, so many a second, or as fast as they are done.
    pub(super) fn start(
        fabric: &Arc<dyn Fabric>,
        load: LoadArguments,
        command: &CreateExecution,
        per_second: Option<f64>,
    ) -> Self {
        let workers = Workers::start(std::slice::from_ref(fabric), Loop::Calls, load, ENDLESS);
        let (is_over, over) = watch::channel(false);
        let every = per_second.map(|rate| Duration::from_secs_f64((load.submitters * BATCH) as f64 / rate));
        workers.left().make_room(BATCHES_AHEAD * BATCH);
        let submitters = (0..load.submitters).map(|_| {
            let submitter = Submitter {
                fabric: Arc::clone(fabric),
                command: command.clone(),
                left: Arc::clone(workers.left()),
                over: over.clone(),
            };
            tokio::spawn(submitter.submit(every))
        });
        Self {
            submitters: submitters.collect(),
            workers,
            is_over,
        }
    }

    /// Tasks that were done so far.
    pub(super) fn done(&self) -> usize {
        ENDLESS - self.workers.left().count()
    }

    /// How many are done in a second, over some time from now on.
    pub(super) async fn rate_over(&self, time: Duration) -> f64 {
        let (before, started) = (self.done(), Instant::now());
        sleep(time).await;
        (self.done() - before) as f64 / started.elapsed().as_secs_f64()
    }

    /// Ends it; fails if a task was lost or delivered twice.
    pub(super) async fn end(self) -> anyhow::Result<()> {
        self.is_over.send_replace(true);
        let mut submitted = Vec::new();
        for submitter in self.submitters {
            submitted.extend(submitter.await??);
        }
        self.workers.left().are_fewer(ENDLESS - submitted.len());
        check_delivery(&submitted, &self.workers.completed().await?)
    }
}

struct Submitter {
    fabric: Arc<dyn Fabric>,
    command: CreateExecution,
    left: Arc<Left>,
    over: watch::Receiver<bool>,
}

impl Submitter {
    async fn submit(mut self, every: Option<Duration>) -> anyhow::Result<Vec<ExecutionId>> {
        let (mut ids, mut ticks) = (Vec::new(), every.map(interval));
        loop {
            let turn = async {
                if let Some(ticks) = &mut ticks {
                    ticks.tick().await;
                }
                self.left.room(BATCH).await
            };
            tokio::select! {
                turn = turn => turn?,
                _ = self.over.wait_for(|over| *over) => return Ok(ids),
            }
            ids.extend(submit_batch(&*self.fabric, BATCH, &self.command).await?);
        }
    }
}
