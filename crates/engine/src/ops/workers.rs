//! Registration of workers: register_worker, heartbeat, deregister_worker, drain_worker, undrain_worker, list_workers.

use ff_backend::query::Cursor;
use ff_core::command::page::{ListOf, Page};
use ff_core::command::worker::{DrainWorker, NamedInstance, RegisterWorker, SendHeartbeat, UndrainWorker};
use ff_core::fabric::Result;
use ff_core::machine::worker;
use ff_core::record::Worker;

use crate::directory::workers;
use crate::engine::Engine;
use crate::pump::Duty;

pub(crate) async fn register_worker(engine: &Engine, command: RegisterWorker) -> Result<Worker> {
    engine.check_namespace(&command.namespace)?;
    workers::change(engine, &command.namespace, &command.instance, |existing, context| {
        worker::register(workers::named(existing), &command, context)
    })
    .await
}

pub(crate) async fn heartbeat(engine: &Engine, command: SendHeartbeat) -> Result<Worker> {
    engine.check_namespace(&command.namespace)?;
    let process = &command.process;
    workers::change(engine, &command.namespace, &process.instance, |existing, context| {
        worker::heartbeat(workers::named(existing), process, &command.load, context)
    })
    .await
}

pub(crate) async fn drain_worker(engine: &Engine, command: DrainWorker) -> Result<Worker> {
    engine.check_namespace(&command.namespace)?;
    let drained = workers::change(engine, &command.namespace, &command.instance, |existing, context| {
        worker::drain(existing, &command, context)
    });
    let drained = drained.await?;
    engine.shared.stops.end_waits(&command.namespace, &command.instance);
    Ok(drained)
}

pub(crate) async fn undrain_worker(engine: &Engine, command: UndrainWorker) -> Result<Worker> {
    engine.check_namespace(&command.namespace)?;
    workers::change(engine, &command.namespace, &command.instance, |existing, context| {
        worker::undrain(existing, &command, context)
    })
    .await
}

pub(crate) async fn deregister_worker(engine: &Engine, command: NamedInstance) -> Result<()> {
    engine.check_namespace(&command.namespace)?;
    let process = &command.process;
    workers::remove(engine, &command.namespace, &process.instance, |existing| {
        worker::deregister(workers::named(existing), process)
    })
    .await
}

pub(crate) async fn list_workers(engine: &Engine, request: ListOf) -> Result<Page<Worker>> {
    let ListOf { namespace, page } = request;
    engine.check_namespace(&namespace)?;
    let scope = format!("workers/{namespace}");
    let limit = page.limit()?;
    let after = engine.open_cursor(&page, &scope).await?.map(|cursor| cursor.0);
    let mut found = workers::page(engine, &namespace, after, limit).await?;
    let now = engine.store_time().await?;
    found
        .workers
        .retain(|worker| worker.is_live(now) || !Duty::WorkerTtl.is_served(engine));
    Ok(Page {
        items: found.workers,
        next: engine.sign_cursor(found.next.map(Cursor), &scope).await?,
    })
}
