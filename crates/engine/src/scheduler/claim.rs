//! claim: tasks for a worker, now or as soon as there are some.

use std::pin::pin;
use std::time::Duration as HostDuration;

use ff_core::command::claim::{Claim, Task, Want};
use ff_core::command::worker::WorkerLoad;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::limits::{BATCH_ITEMS_MAX, LANES_PER_WORKER_MAX, LEASE_TTL_DEFAULT};
use ff_core::machine::lease::check_lease_ttl;
use ff_core::name::{Namespace, WorkerInstanceId};
use ff_core::record::Drain;
use ff_core::time::Duration;
use futures::future::select;

use super::claim_queue::ClaimQueueKey;
use super::serving;
use super::waiting_claim::ClaimRequest;
use crate::directory::{WorkerSeen, check_claimant, worker_seen};
use crate::engine::Engine;

/// How long a claim may wait.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Takes tasks, waiting for the first one if the claim says so.
pub(crate) async fn claim(engine: &Engine, command: Claim) -> Result<Vec<Task>> {
    engine.check_namespace(&command.namespace)?;
    let lease_ttl = check_want(&command.want)?;
    check_wait(command.wait)?;
    if command.want.max == 0 {
        return Err(Code::InvalidInput.because("max must be at least 1"));
    }
    check_claimant(engine, &command).await?;
    let waiting = engine.shared.stops.join(&command.namespace, &command.instance);
    let checked = CheckedClaim {
        claim: command,
        lease_ttl,
        load: WorkerLoad::default(),
    };
    claim_checked(engine, checked, waiting.in_vain()).await
}

/// A claim that was looked at already.
pub(super) struct CheckedClaim {
    pub(super) claim: Claim,
    pub(super) lease_ttl: Duration,
    pub(super) load: WorkerLoad,
}

/// How long a worker that is to finish what it has waits for nothing: one that asks for more all the same asks slowly.
const DRAINED_WAIT_MAX: Duration = Duration::from_secs(1);

/// Takes tasks, waiting for the first one no longer than until `hurry` is over.
pub(super) async fn claim_checked(
    engine: &Engine,
    checked: CheckedClaim,
    hurry: impl Future<Output = ()>,
) -> Result<Vec<Task>> {
    let CheckedClaim {
        claim: command,
        lease_ttl,
        load,
    } = checked;
    note_worker(engine, &command, load);
    if drain_of(engine, &command.namespace, &command.instance).is_some() {
        wait_for_nothing(engine, command.wait.min(DRAINED_WAIT_MAX), hurry).await;
        return Ok(Vec::new());
    }
    let key = ClaimQueueKey::of(&command.namespace, &command.want);
    let request = ClaimRequest {
        worker: command.worker,
        instance: command.instance,
        max: command.want.max,
        lease_ttl,
    };
    let wait = HostDuration::from_millis(command.wait.as_millis());
    let joined = engine
        .shared
        .claim_queues
        .join(key, request, wait > HostDuration::ZERO)?;
    if let Some(queue) = joined.needs_another_loop {
        serving::start(engine, queue);
    }
    joined.claim.answer(engine.host(), wait, hurry).await
}

/// Waits without being handed anything, no longer than until `hurry` is over.
pub(super) async fn wait_for_nothing(engine: &Engine, wait: Duration, hurry: impl Future<Output = ()>) {
    if wait == Duration::ZERO {
        return;
    }
    let wait = HostDuration::from_millis(wait.as_millis());
    let (stopped, hurry) = (pin!(engine.stopped()), pin!(hurry));
    select(select(stopped, hurry), engine.host().sleep(wait)).await;
}

/// Why a worker process is handed nothing; `None`: it may have work.
pub(super) fn drain_of(engine: &Engine, namespace: &Namespace, instance: &WorkerInstanceId) -> Option<Drain> {
    engine.shared.directory.roster.drain_of(namespace, instance)
}

/// Claiming says that the worker is there, and what it can do.
pub(super) fn note_worker(engine: &Engine, command: &Claim, load: WorkerLoad) {
    worker_seen(
        engine,
        WorkerSeen {
            namespace: command.namespace.clone(),
            worker: command.worker.clone(),
            instance: command.instance.clone(),
            incarnation: command.incarnation,
            lanes: command.want.lanes.clone(),
            capabilities: command.want.capabilities.clone(),
            load,
        },
    );
}

/// Refuses what no worker may want; answers how long the leases last.
pub(super) fn check_want(want: &Want) -> Result<Duration> {
    let lanes = want.lanes.len();
    if lanes == 0 || lanes > LANES_PER_WORKER_MAX {
        return Err(Code::InvalidInput.because(format!("{lanes} lanes given, not 1 to {LANES_PER_WORKER_MAX}")));
    }
    if want.max > BATCH_ITEMS_MAX {
        return Err(Code::InvalidInput.because(format!("max is {}, more than {BATCH_ITEMS_MAX}", want.max)));
    }
    check_lease_ttl(want.lease_ttl.unwrap_or(LEASE_TTL_DEFAULT))
}

/// Refuses to wait for too long.
pub(super) fn check_wait(wait: Duration) -> Result<()> {
    if wait > WAIT_MAX {
        return Err(Code::InvalidInput.because(format!("a claim waits at most {WAIT_MAX}, not {wait}")));
    }
    Ok(())
}
