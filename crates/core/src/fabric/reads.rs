//! Reading executions, lanes and events.

use async_trait::async_trait;

use super::{On, Result};
use crate::command::page::{ListOf, Page, PageRequest};
use crate::id::ExecutionId;
use crate::payload::Payload;
use crate::record::{Attempt, HistoryLine};
use crate::view::{
    Events, ExecutionView, Explanation, GetResult, LaneView, ListExecutions, ReadEvents, StateView, WaitForEnd,
};

/// Reading executions, lanes and events.
#[async_trait]
pub trait Reads: Send + Sync {
    /// Everything about one execution but its bytes.
    async fn get_execution(&self, id: ExecutionId) -> Result<ExecutionView>;

    /// Where it stands.
    async fn get_state(&self, id: ExecutionId) -> Result<StateView>;

    /// What it was completed with, while its last end was a success. Who holds the lease of a child of it is answered what
    /// its last success left, whatever came after: that is what the child is handed.
    async fn get_result(&self, request: On<ExecutionId, GetResult>) -> Result<Payload>;

    /// Where it stands once it has ended, or when the wait is over.
    async fn wait_for_end(&self, request: On<ExecutionId, WaitForEnd>) -> Result<StateView>;

    /// Executions, newest first.
    async fn list_executions(&self, request: ListExecutions) -> Result<Page<ExecutionView>>;

    /// What happened to it, oldest first.
    async fn get_history(&self, request: On<ExecutionId, PageRequest>) -> Result<Page<HistoryLine>>;

    /// Its attempts, by index, the current one last.
    async fn list_attempts(&self, request: On<ExecutionId, PageRequest>) -> Result<Page<Attempt>>;

    /// Every condition between it and a worker, with its current value.
    async fn explain(&self, id: ExecutionId) -> Result<Explanation>;

    /// Lanes of a namespace with their depths, by name.
    async fn list_lanes(&self, request: ListOf) -> Result<Page<LaneView>>;

    /// Lifecycle events after a cursor, parking until there are some.
    async fn events(&self, request: ReadEvents) -> Result<Events>;
}
