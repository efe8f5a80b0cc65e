//! Workers: register_worker, heartbeat, deregister. One live incarnation per instance.

use super::context::Context;
use super::lease::check_lease_ttl;
use crate::command::worker::{Heartbeat, RegisterWorker};
use crate::error::{Code, Rejection};
use crate::limits;
use crate::record::{Incarnation, Worker};

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
pub fn heartbeat(existing: Option<&Worker>, command: &Heartbeat, context: &Context) -> Result<Worker, Rejection> {
    let worker = own(existing, command)?;
    if !worker.is_live(context.now) {
        return Err(unknown(command));
    }
    Ok(Worker {
        seen_at: context.now,
        ..worker.clone()
    })
}

/// A worker leaves. Only its own incarnation can say so; the caller deletes the registration.
pub fn deregister(existing: Option<&Worker>, command: &Heartbeat) -> Result<(), Rejection> {
    own(existing, command).map(|_| ())
}

fn own<'w>(existing: Option<&'w Worker>, command: &Heartbeat) -> Result<&'w Worker, Rejection> {
    match existing {
        None => Err(unknown(command)),
        Some(worker) if worker.incarnation != command.incarnation => {
            let instance = &command.instance;
            Err(Code::DuplicateWorkerInstance.because(format!("another process is registered as {instance}")))
        }
        Some(worker) => Ok(worker),
    }
}

fn unknown(command: &Heartbeat) -> Rejection {
    Code::WorkerNotFound.because(format!("no live worker is registered as {}", command.instance))
}
