//! Submitting work: one execution or many, their tags and their input.
//!
//! | file | what |
//! |---|---|
//! | `assigned_id` | which id and partition a submission gets |
//! | `create` | one submission, from looking for a repetition to the commit |
//! | `member` | what a submission into a flow needs besides |
//! | `batch` | many at once |

mod assigned_id;
mod batch;
mod create;
mod member;

pub(crate) use batch::create_executions;
pub(crate) use create::create_execution;

use ff_core::command::operator::{Changed, SetTags, Tagged};
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::machine::operator;
use ff_core::payload::Payload;
use ff_core::record::BlobKey;

use crate::engine::Engine;
use crate::fault::internal;

pub(crate) async fn set_tags(engine: &Engine, command: On<ExecutionId, SetTags>) -> Result<Changed> {
    engine
        .change(command.id, |execution, context| {
            operator::set_tags(execution, &command.command, context)
        })
        .await
}

pub(crate) async fn get_tags(engine: &Engine, id: ExecutionId) -> Result<Tagged> {
    let snapshot = engine.read_execution(id).await?;
    let tags = (*engine.visible(&snapshot, id)?.tags).clone();
    Ok(Tagged { tags })
}

pub(crate) async fn get_input(engine: &Engine, id: ExecutionId) -> Result<Payload> {
    engine.check_id(id)?;
    let input = BlobKey::Input(id);
    let mut snapshot = engine.store().load(Engine::load_of(id).with_blobs([input])).await?;
    engine.visible(&snapshot, id)?;
    let input = snapshot.blobs.remove(&input);
    input.ok_or_else(|| internal(&format!("execution {id} has no input")))
}
