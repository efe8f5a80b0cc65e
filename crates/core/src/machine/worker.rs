//! Workers: register_worker, heartbeat, deregister, drain_worker, undrain_worker. One live incarnation per instance.

use super::context::Context;
use super::lease::{check_label, check_lease_ttl, check_text};
use crate::command::worker::{DrainWorker, Heartbeat, RegisterWorker, UndrainWorker, WorkerLoad};
use crate::error::{Code, Rejection};
use crate::limits;
use crate::name::WorkerInstanceId;
use crate::record::{Drain, Incarnation, Worker};

/// Registers a worker process. Another live incarnation of the same instance keeps its place.
pub fn register(existing: Option<&Worker>, command: &RegisterWorker, context: &Context) -> Result<Worker, Rejection> {
    if command.lanes.is_empty() {
        return Err(Code::InvalidInput.because("a worker serves at least one lane"));
    }
    if command.lanes.len() > limits::LANES_PER_WORKER_MAX {
        return Err(Code::InvalidInput.because(format!(
            "a worker serves at most {} lanes",
            limits::LANES_PER_WORKER_MAX
        )));
    }
    let ttl = check_lease_ttl(
        command
            .ttl
            .unwrap_or(limits::LEASE_TTL_DEFAULT + limits::LEASE_TTL_DEFAULT),
    )?;
    let live = existing.filter(|worker| worker.is_live(context.now));
    check_incarnation(live, command.incarnation, context)?;
    check_load(&command.load)?;
    let load = command.load.clone().or(live.map(load_of).unwrap_or_default());
    Ok(Worker {
        namespace: command.namespace.clone(),
        worker: command.worker.clone(),
        instance: command.instance.clone(),
        incarnation: command.incarnation,
        lanes: command.lanes.clone(),
        capabilities: command.capabilities.clone(),
        registered_at: live.map_or(context.now, |worker| worker.registered_at),
        seen_at: context.now,
        ttl,
        slots: load.slots,
        running: load.running,
        version: load.version,
        drain: live.and_then(|worker| worker.drain.clone()),
        carried: Default::default(),
    })
}

/// Refuses a process that acts as an instance another live one is registered as.
pub fn check_incarnation(
    existing: Option<&Worker>,
    incarnation: Incarnation,
    context: &Context,
) -> Result<(), Rejection> {
    match existing.filter(|worker| worker.is_live(context.now)) {
        Some(live) if live.incarnation != incarnation => {
            let instance = &live.instance;
            let detail =
                format!("another process is registered as {instance}; it is free when that one leaves or times out");
            Err(Code::DuplicateWorkerInstance.because(detail))
        }
        _ => Ok(()),
    }
}

/// A registered worker was heard of.
pub fn heartbeat(
    existing: Option<&Worker>,
    command: &Heartbeat,
    load: &WorkerLoad,
    context: &Context,
) -> Result<Worker, Rejection> {
    check_load(load)?;
    let worker = own(existing, command)?;
    if !worker.is_live(context.now) {
        return Err(unknown(&command.instance));
    }
    let load = load.clone().or(load_of(worker));
    Ok(Worker {
        seen_at: context.now,
        slots: load.slots,
        running: load.running,
        version: load.version,
        ..worker.clone()
    })
}

/// A live worker is to finish what it has. Asked again, it is drained since the first time, for the last reason.
pub fn drain(existing: Option<&Worker>, command: &DrainWorker, context: &Context) -> Result<Worker, Rejection> {
    check_text("reason", &command.reason)?;
    let worker = live(existing, &command.instance, context)?;
    let since = worker.drain.as_ref().map_or(context.now, |drain| drain.since);
    Ok(Worker {
        drain: Some(Drain {
            reason: command.reason.clone(),
            since,
        }),
        ..worker.clone()
    })
}

/// A live worker is handed work again.
pub fn undrain(existing: Option<&Worker>, command: &UndrainWorker, context: &Context) -> Result<Worker, Rejection> {
    let worker = live(existing, &command.instance, context)?;
    Ok(Worker {
        drain: None,
        ..worker.clone()
    })
}

fn live<'w>(
    existing: Option<&'w Worker>,
    instance: &WorkerInstanceId,
    context: &Context,
) -> Result<&'w Worker, Rejection> {
    let live = existing.filter(|worker| worker.is_live(context.now));
    live.ok_or_else(|| unknown(instance))
}

fn load_of(worker: &Worker) -> WorkerLoad {
    WorkerLoad {
        slots: worker.slots,
        running: worker.running,
        version: worker.version.clone(),
    }
}

/// Refuses a version that does not fit on a line.
pub fn check_load(load: &WorkerLoad) -> Result<(), Rejection> {
    load.version
        .as_deref()
        .map_or(Ok(()), |version| check_label("version", version))
}

/// A worker leaves. Only its own incarnation can say so; the caller deletes the registration.
pub fn deregister(existing: Option<&Worker>, command: &Heartbeat) -> Result<(), Rejection> {
    own(existing, command).map(|_| ())
}

fn own<'w>(existing: Option<&'w Worker>, command: &Heartbeat) -> Result<&'w Worker, Rejection> {
    match existing {
        None => Err(unknown(&command.instance)),
        Some(worker) if worker.incarnation != command.incarnation => {
            let instance = &command.instance;
            Err(Code::DuplicateWorkerInstance.because(format!("another process is registered as {instance}")))
        }
        Some(worker) => Ok(worker),
    }
}

fn unknown(instance: &WorkerInstanceId) -> Rejection {
    Code::WorkerNotFound.because(format!("no live worker is registered as {instance}"))
}
