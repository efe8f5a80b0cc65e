//! The loop that serves a claim queue: rounds while there is something, and waiting while there is not.

use std::sync::Arc;

use ff_core::command::lease::Release;
use ff_core::fabric::{On, Result};
use ff_core::machine::claim::HandOut;
use ff_core::name::{LaneId, Namespace};
use ff_core::record::Execution;
use ff_core::time::Timestamp;
use futures::future::{join_all, try_join_all};

use super::batch::Batch;
use super::claim::drain_of;
use super::claim_queue::{ClaimQueueKey, Next, Round, Served};
use super::claim_queues::ClaimQueues;
use super::cycle::{Cycle, End, Ended, Handed, Sought};
use super::task;
use super::waiting_claim::ClaimRequest;
use crate::directory::lanes;
use crate::engine::Engine;
use crate::ops::work;
use ff_core::caller::Caller;

/// A loop that serves a queue. If it goes down before the queue tells it to end, the queue is told.
struct ServingLoop<'q> {
    queues: &'q ClaimQueues,
    queue: Option<Arc<ClaimQueueKey>>,
    in_round: bool,
}

impl Drop for ServingLoop<'_> {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            self.queues.loop_failed(&queue, self.in_round);
        }
    }
}

/// Starts a loop that serves a queue. It runs beside the callers, so that one who goes away takes nobody with it.
pub(super) fn start(engine: &Engine, queue: Arc<ClaimQueueKey>) {
    // All claims of the queue are served together, on behalf of none of them.
    let serving = engine.acting_as(Caller::engine());
    engine.host().spawn(Box::pin(async move { run(&serving, queue).await }));
}

async fn run(engine: &Engine, key: Arc<ClaimQueueKey>) {
    let queues = &engine.shared.claim_queues;
    let mut serving = ServingLoop {
        queues,
        queue: Some(Arc::clone(&key)),
        in_round: false,
    };
    loop {
        match queues.next(&key, engine.host().elapsed()) {
            Next::Serve(round) => {
                serving.in_round = true;
                if round.needs_another_loop {
                    start(engine, Arc::clone(&key));
                }
                let served = serve_round(engine, &key, round).await;
                queues.finish_round(&key, served, engine.host().elapsed());
                serving.in_round = false;
            }
            Next::Wait(wake_up) => wake_up.woken().await,
            Next::End => {
                serving.queue = None;
                return;
            }
        }
    }
}

async fn serve_round(engine: &Engine, key: &ClaimQueueKey, round: Round) -> Served {
    let is_drained = |request: &ClaimRequest| drain_of(engine, &key.namespace, &request.instance).is_some();
    let (drained, claims): (Vec<_>, Vec<_>) = round.claims.into_iter().partition(|claim| is_drained(&claim.request));
    // Each has been told to stop waiting, and may not have heard it yet.
    drained.into_iter().for_each(|claim| claim.answer(Ok(Vec::new())));
    let mut batch = Batch::new(claims);
    let ended = match begin_cycle(engine, key, round.number, round.without_admission).await {
        Ok((cycle, now)) => fill_batch(engine, cycle, (&mut batch, is_drained), now).await,
        Err(fault) => Ended::by_fault(fault),
    };
    engine.shared.causes.wake_when_moved(&ended.left_aside, &round.wake_up);
    Served {
        batch,
        wake_ups: round.wake_ups,
        end: ended.end,
        without_admission: ended.without_admission,
    }
}

async fn begin_cycle<'e>(
    engine: &'e Engine,
    key: &ClaimQueueKey,
    round: usize,
    without_admission: bool,
) -> Result<(Cycle<'e>, Timestamp)> {
    let lanes = key.lanes_of_round(round);
    let sought = Sought {
        namespace: key.namespace.clone(),
        lanes: lanes_that_hand_out(engine, &key.namespace, lanes).await?,
        capabilities: key.capabilities.clone(),
        mode: HandOut::Lease,
    };
    let cycle = Cycle::new(engine, sought, without_admission);
    Ok((cycle, engine.store_time().await?))
}

/// Reserves until every claim has enough or nothing comes, then adds the tasks to their shares.
async fn fill_batch(
    engine: &Engine,
    mut cycle: Cycle<'_>,
    (batch, is_drained): (&mut Batch, impl Fn(&ClaimRequest) -> bool),
    now: Timestamp,
) -> Ended {
    let mut taken: Vec<(usize, Handed)> = Vec::new();
    let mut too_late: Vec<Handed> = Vec::new();
    while cycle.goes_on() {
        let claimants = batch.next_claimants(cycle.reserve_max(), engine, now);
        if claimants.is_empty() {
            break;
        }
        for handed in cycle.next(claimants).await {
            match batch.take(handed.grant_id) {
                Some((_, request)) if is_drained(request) => too_late.push(handed),
                Some((share, _)) => taken.push((share, handed)),
                None => {}
            }
        }
    }
    join_all(too_late.into_iter().map(|handed| give_back(engine, handed.execution))).await;
    let mut ended = cycle.finish();
    let tasks = taken
        .into_iter()
        .map(|(share, handed)| async move { (share, task::assemble(engine, handed).await) });
    for (share, task) in join_all(tasks).await {
        match task {
            Ok(task) => batch.add_task(share, task),
            Err(fault) => {
                // Without its inputs or signals it must not run: its short first lease ends, and it comes back. Whoever
                // it was for is told, because another round would only lease and lose the next one.
                tracing::warn!(%fault, "a leased execution could not be handed over whole");
                ended.end = End::Fault(fault);
            }
        }
    }
    ended
}

/// Gives back what was leased for a worker that was drained meanwhile.
async fn give_back(engine: &Engine, execution: Execution) {
    let attempt = execution.attempt.as_ref().map(|attempt| attempt.id);
    let fence = execution
        .lease()
        .zip(attempt)
        .map(|(lease, attempt)| lease.fence(attempt));
    let release = Release {
        fence,
        steps: Vec::new(),
    };
    if let Err(refusal) = work::release(engine, On::new(execution.id, release)).await {
        tracing::debug!(%refusal, "a task for a drained worker comes back when its short first lease ends");
    }
}

/// Those of the lanes that hand out, in the same order.
pub(super) async fn lanes_that_hand_out(
    engine: &Engine,
    namespace: &Namespace,
    lanes: Vec<LaneId>,
) -> Result<Vec<LaneId>> {
    let states = try_join_all(lanes.iter().map(|lane| lanes::state_of(engine, namespace, lane))).await?;
    let open = lanes.into_iter().zip(states).filter(|(_, state)| state.hands_out());
    Ok(open.map(|(lane, _)| lane).collect())
}
