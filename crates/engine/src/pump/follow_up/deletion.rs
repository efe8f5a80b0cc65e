//! Deleting what nobody needs any more: parts first, the record last. What is deleted is not listed again.

use ff_backend::load::{Load, LoadSteps, Snapshot};
use ff_backend::query::Page;
use ff_core::fabric::Result;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::limits::FOLLOW_UP_CHUNK;
use ff_core::machine::flow::{self, Doomed};
use ff_core::machine::index::Index;
use ff_core::machine::{Decided, retention};
use ff_core::record::{Execution, RecordKey};

use super::walk_positions::WalkPosition;
use super::{Progress, flow_context, walk};
use crate::engine::Engine;
use crate::ops::flows::FlowRead;
use crate::snapshots::{add_rows, merge};
use crate::transact::Decision;

/// Records that belong to an execution, as far as there was room.
struct Parts {
    keys: Vec<RecordKey>,
    /// Whether these are all that are left.
    last: bool,
}

/// Deletes a chunk of what belongs to an execution whose retention is over, or that was to be deleted, at last the execution itself.
pub(crate) async fn delete_execution_chunk(engine: &Engine, id: ExecutionId) -> Result<Progress> {
    let key = RecordKey::Execution(id);
    let locked = engine.lock(key.clone()).await;
    let decide = || async {
        let mut snapshot = locked.look(Engine::load_of(id)).await?;
        snapshot.listed = true;
        let found = snapshot.execution(&key).cloned();
        let Some(execution) = found.filter(Execution::is_deleting) else {
            return Ok(Decision::unchanged(snapshot, Progress::Done));
        };
        if !owes_nothing(&execution) {
            return Ok(Decision::unchanged(snapshot, Progress::Later));
        }
        if let Some(flow) = execution.definition.flow {
            merge(&mut snapshot, engine.store().load(engine.load_of_flow(flow)).await?);
        }
        let parts = parts_of(engine, &execution, FOLLOW_UP_CHUNK - 2, &mut snapshot).await?;
        let flow = execution.definition.flow.and_then(|flow| FlowRead::of(&snapshot, flow));
        let decided = Decided {
            outcome: if parts.last { Progress::Done } else { Progress::More },
            draft: match flow {
                None => retention::delete_execution(&execution, &parts.keys, parts.last),
                Some(read) => {
                    let context = flow_context(engine, &snapshot, read.gate);
                    flow::delete_member(read.flow, doomed(&execution, &parts), &context)
                }
            },
        };
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}

/// Deletes a chunk of the members of a flow whose retention is over, at last the flow itself.
pub(crate) async fn delete_members_chunk(engine: &Engine, id: FlowId) -> Result<Progress> {
    let members = [engine.range(Index::Members(id))];
    let locked = engine.lock(RecordKey::Flow(id)).await;
    let decide = || async {
        let mut snapshot = locked.look(engine.load_of_flow(id)).await?;
        let Some(read) = FlowRead::of(&snapshot, id).filter(|read| read.flow.deleting) else {
            return Ok(Decision::unchanged(snapshot, Progress::Done));
        };
        let walked = walk::read_chunk(engine, &members, WalkPosition::default(), Page::executions, |_| true).await?;
        let decided = if walked.rows.is_empty() && walked.is_last() {
            flow::delete(read.loaded()).map(|()| Progress::Done)
        } else {
            let (flow, gate) = (read.flow.clone(), read.gate);
            add_rows(&mut snapshot, &walked.rows);
            let members = walked.rows.into_iter().map(|(member, _)| member);
            let chosen = choose(engine, members.filter(owes_nothing), &mut snapshot).await?;
            if chosen.is_empty() {
                return Ok(Decision::unchanged(snapshot, Progress::Later));
            }
            let page: Vec<_> = chosen.iter().map(|(member, parts)| doomed(member, parts)).collect();
            let context = flow_context(engine, &snapshot, gate);
            flow::delete_members(&flow, &page, &context).map(|()| Progress::More)
        };
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}

/// As many of `members`, with their parts, as fit into a chunk.
async fn choose(
    engine: &Engine,
    members: impl Iterator<Item = Execution>,
    snapshot: &mut Snapshot,
) -> Result<Vec<(Execution, Parts)>> {
    let mut room = FOLLOW_UP_CHUNK;
    let mut chosen = Vec::new();
    for member in members {
        if room == 0 {
            break;
        }
        let parts = parts_of(engine, &member, room - 1, snapshot).await?;
        room -= 1 + parts.keys.len();
        chosen.push((member, parts));
    }
    Ok(chosen)
}

/// At most `room` of the records that belong to an execution, kept in `snapshot` with their versions.
async fn parts_of(engine: &Engine, execution: &Execution, room: usize, snapshot: &mut Snapshot) -> Result<Parts> {
    let mut keys = Vec::new();
    let mut last = true;
    for list in lists_of(execution) {
        if keys.len() == room {
            last = false;
            break;
        }
        let page = engine.store().list(engine.range(list), None, room - keys.len()).await?;
        last = page.next.is_none();
        for (record, version) in page.records() {
            keys.push(record.key());
            snapshot.records.entry(record.key()).or_insert((record, version));
        }
        if !last {
            break;
        }
    }
    if last && execution.steps.next_seq > 0 {
        let room = room - keys.len();
        let steps = LoadSteps {
            execution_id: execution.id,
            from_seq: 0,
            limit: room,
            output_bytes: 0,
        };
        let found = engine
            .store()
            .load(Load::records(snapshot.partition, []).with_steps([steps]))
            .await?;
        last = found.records.len() < room;
        keys.extend(found.records.keys().cloned());
        merge(snapshot, found);
    }
    Ok(Parts { keys, last })
}

/// Whether nothing is left that others wait for: slots to give back, edges to resolve.
fn owes_nothing(execution: &Execution) -> bool {
    execution.outbox.is_empty() && !execution.follow_ups.any()
}

fn doomed<'d>(member: &'d Execution, parts: &'d Parts) -> Doomed<'d> {
    Doomed {
        member,
        parts: &parts.keys,
        last: parts.last,
    }
}

/// Where the parts of an execution are listed. Only a worker makes attempts and waitpoints, and signals need waitpoints.
///
/// An edge goes with its child, not with its upstream: an upstream that still owes its resolution would count it for a child
/// that is gone, and a later member of that name would find the counters.
fn lists_of(execution: &Execution) -> Vec<Index> {
    let id = execution.id;
    let edges = execution.definition.flow.map(|_| Index::EdgesInto(id));
    let of_worker = [Index::Attempts(id), Index::Waitpoints(id), Index::Signals(id)];
    let of_worker = of_worker.into_iter().filter(|_| execution.has_run());
    edges.into_iter().chain(of_worker).collect()
}
