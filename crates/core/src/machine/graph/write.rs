//! The transactions that write a part of a graph.

use super::plan::{Chunk, GraphPart, Item};
use crate::command::flow::CreateFlow;
use crate::command::submit::CreateExecution;
use crate::error::{Code, Rejection};
use crate::machine::context::Context;
use crate::machine::decided::Draft;
use crate::machine::flow::{Counts, Loaded, create_opened, take_flow};
use crate::machine::member::{self, Membership};
use crate::machine::submit::{self, Known};
use crate::record::{Execution, Gate, GateState, Happening, RecordKey};

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

/// The transaction of a graph that fits into one, of a flow that is not there yet: nobody sees it before it is whole, so its
/// members need not be held back and let go afterwards.
pub fn draft_opened(
    chunk: &Chunk,
    part: &GraphPart,
    definition: &CreateFlow,
    known: &[Known<'_>],
    context: &Context,
) -> Result<Draft, Rejection> {
    let gate = GateState::Open;
    let (flow, [created, opened]) = create_opened(part.flow_id, definition, context)?;
    let loaded = ChunkLoaded {
        flow: Loaded {
            flow: &flow,
            gate,
            counts: &Counts::default(),
        },
        executions: &[],
        known,
    };
    let mut draft = members(chunk, part, loaded, context)?;
    let mut flow = take_flow(&mut draft, &flow);
    flow.populated = true;
    // Everything was counted when it was written.
    draft.nudges.retain(|nudge| nudge.key != RecordKey::Flow(flow.id));
    draft.guards.retain(|key| *key != RecordKey::Gate(flow.id));
    // It grew in one step.
    let grown = draft
        .history
        .iter()
        .rposition(|line| line.what == Happening::EdgeStaged);
    let grown = grown.map(|position| draft.history.remove(position));
    draft.history.retain(|line| line.what != Happening::EdgeStaged);
    let lines = [Some(created), grown, Some(opened)].into_iter().flatten();
    draft.history.splice(0..0, lines);
    draft.create(Gate {
        flow_id: flow.id,
        state: gate,
    });
    draft.create(flow);
    Ok(draft)
}

/// The transaction of one chunk, of which nothing is there.
pub fn draft(chunk: &Chunk, part: &GraphPart, loaded: ChunkLoaded<'_>, context: &Context) -> Result<Draft, Rejection> {
    if chunk.is_empty() {
        return Ok(Draft::default());
    }
    check_assembling(loaded.flow)?;
    members(chunk, part, loaded, context)
}

fn members(chunk: &Chunk, part: &GraphPart, loaded: ChunkLoaded<'_>, context: &Context) -> Result<Draft, Rejection> {
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
