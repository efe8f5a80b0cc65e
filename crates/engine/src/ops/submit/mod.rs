//! Submitting work: one execution or many, their tags and their input.
//!
//! | file | what |
//! |---|---|
//! | `place` | which id and partition a submission gets |
//! | `create` | one submission, from looking for a repetition to the commit |
//! | `member` | what a submission into a flow needs besides |
//! | `batch` | many at once |

mod batch;
mod create;
mod member;
mod place;

use async_trait::async_trait;
use ff_core::command::operator::{Changed, SetTags};
use ff_core::command::submit::{CreateExecution, Created};
use ff_core::fabric::{On, Result, Submit};
use ff_core::id::ExecutionId;
use ff_core::machine::operator;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Tags};

use crate::engine::Engine;
use crate::fault::internal;

#[async_trait]
impl Submit for Engine {
    async fn create_execution(&self, command: CreateExecution) -> Result<Created> {
        self.check_submission(&command)?;
        let place = self.place(&command, self.store_time().await?)?;
        self.submit(&command, place).await
    }

    async fn create_executions(&self, commands: Vec<CreateExecution>) -> Result<Vec<Result<Created>>> {
        self.submit_batch(&commands).await
    }

    async fn set_tags(&self, command: On<ExecutionId, SetTags>) -> Result<Changed> {
        self.change(command.id, |execution, context| {
            operator::set_tags(execution, &command.command, context)
        })
        .await
    }

    async fn get_tags(&self, id: ExecutionId) -> Result<Tags> {
        let snapshot = self.read_execution(id).await?;
        Ok((*self.visible(&snapshot, id)?.tags).clone())
    }

    async fn get_input(&self, id: ExecutionId) -> Result<Payload> {
        self.check_id(id)?;
        let input = BlobKey::Input(id);
        let mut snapshot = self.store().load(Self::load_of(id).with_blobs([input])).await?;
        self.visible(&snapshot, id)?;
        let input = snapshot.blobs.remove(&input);
        input.ok_or_else(|| internal(&format!("execution {id} has no input")))
    }
}
