//! Registration of workers: register_worker, heartbeat, deregister_worker, list_workers.

use async_trait::async_trait;
use ff_backend::query::Cursor;
use ff_core::command::page::{ListOf, Page};
use ff_core::command::worker::{NamedInstance, RegisterWorker};
use ff_core::fabric::{Result, Workers};
use ff_core::machine::worker;
use ff_core::record::Worker;

use crate::engine::Engine;
use crate::pump::Duty;

#[async_trait]
impl Workers for Engine {
    async fn register_worker(&self, command: RegisterWorker) -> Result<Worker> {
        self.check_namespace(&command.namespace)?;
        self.change_worker(&command.namespace, &command.instance, |existing, context| {
            worker::register(existing, &command, context)
        })
        .await
    }

    async fn heartbeat(&self, command: NamedInstance) -> Result<Worker> {
        self.check_namespace(&command.namespace)?;
        let process = &command.process;
        self.change_worker(&command.namespace, &process.instance, |existing, context| {
            worker::heartbeat(existing, process, context)
        })
        .await
    }

    async fn deregister_worker(&self, command: NamedInstance) -> Result<()> {
        self.check_namespace(&command.namespace)?;
        let process = &command.process;
        self.remove_worker(&command.namespace, &process.instance, |existing| {
            worker::deregister(existing, process)
        })
        .await
    }

    async fn list_workers(&self, request: ListOf) -> Result<Page<Worker>> {
        let ListOf { namespace, page } = request;
        self.check_namespace(&namespace)?;
        let scope = format!("workers/{namespace}");
        let limit = page.limit()?;
        let after = self.open_cursor(&page, &scope).await?.map(|cursor| cursor.0);
        let mut found = self.roster_page(&namespace, after, limit).await?;
        let now = self.store_time().await?;
        found
            .workers
            .retain(|worker| worker.is_live(now) || !self.serves(Duty::WorkerTtl));
        Ok(Page {
            items: found.workers,
            next: self.sign_cursor(found.next.map(Cursor), &scope).await?,
        })
    }
}
