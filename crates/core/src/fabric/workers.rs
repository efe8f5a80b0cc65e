//! Registration of workers.

use async_trait::async_trait;

use super::Result;
use crate::command::page::{ListOf, Page};
use crate::command::worker::{NamedInstance, RegisterWorker};
use crate::record::Worker;

/// Registration of workers.
#[async_trait]
pub trait Workers: Send + Sync {
    /// Announces a worker process.
    async fn register_worker(&self, command: RegisterWorker) -> Result<Worker>;

    /// Says that a registered worker process is still there.
    async fn heartbeat(&self, command: NamedInstance) -> Result<Worker>;

    /// A worker process leaves; its instance id is free.
    async fn deregister_worker(&self, command: NamedInstance) -> Result<()>;

    /// Live workers of a namespace, by instance.
    async fn list_workers(&self, request: ListOf) -> Result<Page<Worker>>;
}
