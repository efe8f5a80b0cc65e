//! Members of a flow that was opened or cancelled.

use ff_backend::load::{Load, Snapshot};
use ff_backend::query::Page;
use ff_backend::transaction::Version;
use ff_core::fabric::Result;
use ff_core::id::FlowId;
use ff_core::machine::index::Index;
use ff_core::machine::{Context, Decided, flow};
use ff_core::record::{CounterKey, Execution, Flow, RecordKey};

use super::walk_positions::{ChunkDone, Occurrence, Purpose, Walk};
use super::{Progress, flow_context, walk};
use crate::engine::Engine;
use crate::ops::flows::FlowRead;
use crate::snapshots::{add_rows, group_counters, group_counts, merge};
use crate::transact::Decision;

/// A chunk of members and what to decide about them with.
struct Chunk<'c> {
    flow: &'c Flow,
    members: &'c [(Execution, Version)],
    last: bool,
    snapshot: &'c Snapshot,
    context: &'c Context,
}

/// What is done with the members of a flow.
struct Job {
    purpose: Purpose,
    owed: fn(&Flow) -> bool,
    wanted: fn(&Execution) -> bool,
    counters: fn(&Execution) -> Vec<CounterKey>,
    rule: fn(&Chunk<'_>) -> Decided<()>,
}

const OPEN: Job = Job {
    purpose: Purpose::OpenMembers,
    owed: |flow| flow.opening,
    wanted: |member| member.unopened,
    counters: |member| group_counters(member.id).collect(),
    rule: open,
};

const CANCEL: Job = Job {
    purpose: Purpose::CancelMembers,
    owed: |flow| flow.cancelling,
    wanted: |_| true,
    counters: |_| Vec::new(),
    rule: cancel,
};

/// Lets a chunk of the members of an opened flow go.
pub(crate) async fn open_members_chunk(engine: &Engine, id: FlowId) -> Result<Progress> {
    members_chunk(engine, id, &OPEN).await
}

/// Cancels a chunk of the members of a cancelled flow.
pub(crate) async fn cancel_members_chunk(engine: &Engine, id: FlowId) -> Result<Progress> {
    members_chunk(engine, id, &CANCEL).await
}

/// Once the gate stands where it makes the flow owe this, nobody joins in a state that still has to be dealt with; so a
/// position stays good whatever else is written about the flow.
async fn members_chunk(engine: &Engine, id: FlowId, job: &Job) -> Result<Progress> {
    let key = RecordKey::Flow(id);
    let walks = &engine.shared.walks;
    let locked = engine.lock(key.clone()).await;
    let decide = || async {
        let mut snapshot = locked.look(engine.load_of_flow(id)).await?;
        let read = FlowRead::of(&snapshot, id).filter(|read| (job.owed)(read.flow));
        let read = read.map(|read| (read.flow.clone(), read.gate));
        let Some(((flow, gate), occurrence)) = read.zip(Occurrence::of(&snapshot, &RecordKey::Gate(id))) else {
            return Ok(Decision::unchanged(snapshot, None));
        };
        let walk = Walk {
            record: key.clone(),
            purpose: job.purpose,
            occurrence,
        };
        let members = engine.range(Index::OpenMembers(id));
        let walked = walk::read_chunk(
            engine,
            &[members],
            walks.position(&walk),
            Page::executions,
            |(member, _)| (job.wanted)(member),
        )
        .await?;
        let done = ChunkDone {
            next: walked.next.clone(),
            walk,
        };
        if walked.is_idle() {
            return Ok(Decision::unchanged(snapshot, Some(done)));
        }
        add_rows(&mut snapshot, &walked.rows);
        let counters: Vec<_> = walked
            .rows
            .iter()
            .flat_map(|(member, _)| (job.counters)(member))
            .collect();
        if !counters.is_empty() {
            let load = Load::records(snapshot.partition, []).with_counters(counters);
            merge(&mut snapshot, locked.load(load).await?);
        }
        let decided = (job.rule)(&Chunk {
            flow: &flow,
            members: &walked.rows,
            last: walked.is_last(),
            snapshot: &snapshot,
            context: &flow_context(engine, &snapshot, gate),
        });
        Ok(Decision::Commit(snapshot, decided.map(|()| Some(done))))
    };
    let done = locked.transact(decide).await?;
    Ok(done.map_or(Progress::Done, |done| walks.advance(done)))
}

fn open(chunk: &Chunk<'_>) -> Decided<()> {
    let members = chunk.members.iter().map(|(member, _)| member);
    let page: Vec<_> = members
        .map(|member| (member, group_counts(chunk.snapshot, member.id)))
        .collect();
    flow::open_members(chunk.flow, &page, chunk.last, chunk.context)
}

fn cancel(chunk: &Chunk<'_>) -> Decided<()> {
    let page: Vec<_> = chunk.members.iter().map(|(member, _)| member).collect();
    flow::cancel_members(chunk.flow, &page, chunk.last, chunk.context)
}
