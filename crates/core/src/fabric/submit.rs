//! Submitting work.

use async_trait::async_trait;

use super::{On, Result};
use crate::command::operator::{Changed, SetTags};
use crate::command::submit::{CreateExecution, Created};
use crate::id::ExecutionId;
use crate::payload::Payload;
use crate::record::Tags;

/// Submitting work, and what was submitted.
#[async_trait]
pub trait Submit: Send + Sync {
    /// Submits one execution.
    async fn create_execution(&self, command: CreateExecution) -> Result<Created>;

    /// Submits up to 1,000, answering each in order; one bad item does not fail the others.
    async fn create_executions(&self, commands: Vec<CreateExecution>) -> Result<Vec<Result<Created>>>;

    /// Replaces the tags.
    async fn set_tags(&self, command: On<ExecutionId, SetTags>) -> Result<Changed>;

    /// The tags.
    async fn get_tags(&self, id: ExecutionId) -> Result<Tags>;

    /// What the execution works on.
    async fn get_input(&self, id: ExecutionId) -> Result<Payload>;
}
