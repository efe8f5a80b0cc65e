//! Results of upstreams, as a task is handed them.

use std::collections::BTreeMap;

use ff_backend::load::{Load, Snapshot};
use ff_core::command::claim::OmittedInput;
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::limits::PAGE_MAX;
use ff_core::machine::index::Index;
use ff_core::name::DataRef;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Edge, EdgeState, Execution, RecordKey};

use crate::engine::Engine;

/// Bytes of upstream results one task is handed.
const INPUT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// What a task is handed of its upstreams, and what it is not.
#[derive(Default)]
pub(super) struct Inputs {
    pub(super) handed: BTreeMap<DataRef, Payload>,
    pub(super) omitted: Vec<OmittedInput>,
}

/// What the last successes of the upstreams whose edges name an input left. What does not fit any more, in the order of
/// their names, is named instead: the holder can still read it.
pub(super) async fn read(engine: &Engine, execution: &Execution) -> Result<Inputs> {
    let mut named = named_upstreams(engine, execution).await?;
    let mut inputs = Inputs::default();
    if named.is_empty() {
        return Ok(inputs);
    }
    let partition = execution.id.partition();
    let upstreams: Vec<RecordKey> = named.values().copied().map(RecordKey::Execution).collect();
    let found = engine.store().load(Load::records(partition, upstreams)).await?;
    let mut room = INPUT_BYTES_MAX;
    named.retain(|name, upstream| {
        let Some(bytes) = result_bytes(&found, *upstream) else {
            return false;
        };
        let fits = bytes <= room;
        if fits {
            room -= bytes;
        } else {
            inputs.omitted.push(OmittedInput {
                name: name.clone(),
                execution_id: *upstream,
            });
        }
        fits
    });
    let blobs = named.values().copied().map(BlobKey::Result);
    let found = engine
        .store()
        .load(Load::records(partition, []).with_blobs(blobs))
        .await?;
    let input = |(name, upstream)| Some((name, found.blobs.get(&BlobKey::Result(upstream))?.clone()));
    inputs.handed = named.into_iter().filter_map(input).collect();
    Ok(inputs)
}

/// Upstreams that count and whose edges name an input. No two edges into one execution have the same name.
async fn named_upstreams(engine: &Engine, execution: &Execution) -> Result<BTreeMap<DataRef, ExecutionId>> {
    let mut named = BTreeMap::new();
    if execution.dependencies.as_ref().is_none_or(|edges| edges.no_results) {
        return Ok(named);
    }
    let inbound = engine.range(Index::EdgesInto(execution.id));
    let mut pages = engine.store().pages(inbound, PAGE_MAX);
    while let Some(page) = pages.next().await? {
        for (edge, _) in page.edges() {
            if let Some(name) = input_name(&edge) {
                named.insert(name, edge.upstream);
            }
        }
    }
    Ok(named)
}

/// Bytes of what the last success of an upstream left; `None` when that is nothing.
fn result_bytes(snapshot: &Snapshot, upstream: ExecutionId) -> Option<u64> {
    let upstream = snapshot.execution(&RecordKey::Execution(upstream))?;
    upstream.success?.result_bytes
}

fn input_name(edge: &Edge) -> Option<DataRef> {
    let counts = edge.state == EdgeState::Satisfied && edge.upstream.partition() == edge.downstream.partition();
    edge.data_passing_ref.clone().filter(|_| counts)
}
