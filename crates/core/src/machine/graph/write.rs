//! The transactions that write a part of a graph.

use super::plan::{Chunk, Item};
use crate::command::flow::GraphPart;
use crate::command::submit::Created;
use crate::error::{Code, Rejection};
use crate::machine::context::Context;
use crate::machine::flow::Loaded;
use crate::machine::member::{self, Membership};
use crate::machine::step::Draft;
use crate::machine::submit::{self, Known};
use crate::record::{Execution, GateState};

/// What was loaded for a chunk.
#[derive(Clone, Copy, Debug)]
pub struct ChunkLoaded<'a> {
    /// The flow, which must be assembling.
    pub flow: Loaded<'a>,
    /// The executions the chunk needs.
    pub executions: &'a [&'a Execution],
    /// What is known about the submission of each member of the part, in its order.
    pub known: &'a [Known<'a>],
}

/// The transaction of one chunk that has not been written.
pub fn draft(chunk: &Chunk, part: &GraphPart, loaded: ChunkLoaded<'_>, context: &Context) -> Result<Draft, Rejection> {
    loaded.flow.check_takes_members()?;
    if loaded.flow.gate != GateState::Assembling {
        let detail = format!(
            "flow {} is open: a graph is built before its flow is opened",
            loaded.flow.flow.id
        );
        return Err(Code::InvalidInput.because(detail));
    }
    let mut draft = Draft::default();
    for item in &chunk.items {
        let membership = Membership {
            flow: loaded.flow,
            depends_on: &item.depends_on,
            upstreams: loaded.executions,
        };
        if item.creates {
            create(&mut draft, item, part, loaded, context)?;
            member::join(&mut draft, item.id, membership, context)?;
            member::announce(&mut draft, item.id, item.further);
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
    let mut submission = part.members[item.member].submission.clone();
    submission.execution_id = Some(item.id);
    submission.flow_id = Some(part.flow_id);
    submission.depends_on.clone_from(&item.depends_on);
    let known = loaded.known.get(item.member).copied().unwrap_or_default();
    let step = submit::create(&submission, item.id, known, context)?;
    if let Created::Duplicate { .. } = step.outcome {
        return Err(Code::AlreadyExists.because(format!("execution {} exists outside of this graph", item.id)));
    }
    draft.merge(step.draft);
    Ok(())
}
