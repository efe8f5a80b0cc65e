//! The transactions that write a part of a graph.

use super::plan::{Chunk, GraphPart, Item};
use crate::command::submit::CreateExecution;
use crate::error::{Code, Rejection};
use crate::machine::context::Context;
use crate::machine::decided::Draft;
use crate::machine::flow::Loaded;
use crate::machine::member::{self, Membership};
use crate::machine::submit::{self, Known};
use crate::record::{Execution, GateState};

/// What was loaded for a chunk.
#[derive(Clone, Copy, Debug)]
pub struct ChunkLoaded<'a> {
    /// The flow, which must be assembling.
    pub flow: Loaded<'a>,
    /// The executions the chunk concerns, as far as they are there.
    pub executions: &'a [&'a Execution],
    /// What is known about the submission of each member of the part, in its order.
    pub known: &'a [Known<'a>],
}

/// Refuses a flow whose graph is not being built any more.
pub fn check_assembling(loaded: Loaded<'_>) -> Result<(), Rejection> {
    loaded.check_takes_members()?;
    if loaded.gate != GateState::Assembling {
        let detail = format!(
            "flow {} was opened without this: a graph is built before its flow is opened",
            loaded.flow.id
        );
        return Err(Code::AlreadyExists.because(detail));
    }
    Ok(())
}

/// The transaction of one chunk, of which nothing is there.
pub fn draft(chunk: &Chunk, part: &GraphPart, loaded: ChunkLoaded<'_>, context: &Context) -> Result<Draft, Rejection> {
    let mut draft = Draft::default();
    if chunk.is_empty() {
        return Ok(draft);
    }
    check_assembling(loaded.flow)?;
    for item in &chunk.items {
        let membership = Membership {
            flow: loaded.flow,
            depends_on: &item.depends_on,
            upstreams: loaded.executions,
        };
        if item.creates {
            create(&mut draft, item, part, loaded, context)?;
            member::join(&mut draft, item.id, membership, context)?;
        } else if let Some(member) = loaded.executions.iter().find(|execution| execution.id == item.id) {
            member::depend_further(&mut draft, member, membership, context)?;
        } else {
            return Err(Code::ExecutionNotFound.because(format!("execution {} does not exist", item.id)));
        }
    }
    Ok(draft)
}

fn create(
    draft: &mut Draft,
    item: &Item,
    part: &GraphPart,
    loaded: ChunkLoaded<'_>,
    context: &Context,
) -> Result<(), Rejection> {
    let known = loaded.known.get(item.member).copied().unwrap_or_default();
    let decided = submit::create(&submission_of(item, part), item.id, known, context)?;
    draft.merge(decided.draft);
    Ok(())
}

/// What a member is submitted as. Its dependencies are compared and written on their own.
pub(super) fn submission_of(item: &Item, part: &GraphPart) -> CreateExecution {
    CreateExecution {
        execution_id: Some(item.id),
        execution_uuid: None,
        flow_id: Some(part.flow_id),
        ..part.members[item.member].submission.clone()
    }
}
