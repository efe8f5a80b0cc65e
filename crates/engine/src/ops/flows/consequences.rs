//! The end of a member and what follows from it, in one transaction.
//!
//! Otherwise three transactions let a child go: the end of its upstream, the resolution of the edge between them, and the
//! decision about the child. Most members have few children; for them all of it fits into the first.

use std::collections::BTreeSet;

use ff_backend::load::{Load, Snapshot};
use ff_core::fabric::Result;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::machine::index::Index;
use ff_core::machine::{Context, Decided, group};
use ff_core::record::{Actor, Edge, Execution, RecordKey};

use crate::engine::Engine;
use crate::flow_cache::Around;
use crate::lease_cache::VersionedExecution;
use crate::ops::work::Held;
use crate::snapshots::{add_rows, group_counters, group_counts, merge};
use crate::transact::Decision;

/// From what is remembered of the flow, and from what is there.
const TRIES: usize = 2;
/// Outbound edges up to which they are resolved at once.
const EDGES_AT_ONCE_MAX: usize = 16;

/// What a try came to.
enum Tried<O> {
    Ended(O),
    /// It ends no member, or too much follows. Nothing was done.
    TooMuch,
    /// Somebody was in the way, or what is remembered of the flow is out of date. Nothing was done.
    InTheWay(Option<FlowId>),
}

/// The same as [`Engine::change_held`], for what may end a member: where little follows from its end, it lands together
/// with it. Whoever is in the way twice finds the follow-up work to be done afterwards.
pub(crate) async fn end_held<O: Send>(
    engine: &Engine,
    held: Held,
    rule: impl Fn(&Execution, &Context) -> Result<Decided<O>> + Send + Sync,
) -> Result<O> {
    let in_flow = |seen: VersionedExecution| seen.execution.definition.flow.is_some();
    for _ in 0..TRIES {
        if !engine.shared.leases.get(held.id).is_some_and(in_flow) {
            break;
        }
        match end_at_once(engine, &held, &rule).await? {
            Tried::Ended(outcome) => return Ok(outcome),
            Tried::TooMuch => break,
            // The next try reads.
            Tried::InTheWay(Some(flow)) => engine.shared.flows.forget(flow),
            Tried::InTheWay(None) => {}
        }
    }
    engine.change_held(held, rule).await
}

async fn end_at_once<O: Send>(
    engine: &Engine,
    held: &Held,
    rule: &(impl Fn(&Execution, &Context) -> Result<Decided<O>> + Send + Sync),
) -> Result<Tried<O>> {
    let locked = engine.lock(RecordKey::Execution(held.id)).await;
    let decision = decide_end(engine, held, rule).await?;
    let flow = match &decision {
        Decision::Commit(snapshot, _) => flow_of(snapshot, held.id),
        _ => return Ok(Tried::TooMuch),
    };
    let outcome = locked.transact_once(async { Ok(decision) }).await?;
    Ok(outcome.map_or(Tried::InTheWay(flow), Tried::Ended))
}

fn flow_of(snapshot: &Snapshot, id: ExecutionId) -> Option<FlowId> {
    snapshot.execution(&RecordKey::Execution(id))?.definition.flow
}

async fn decide_end<O: Send>(
    engine: &Engine,
    held: &Held,
    rule: &(impl Fn(&Execution, &Context) -> Result<Decided<O>> + Send + Sync),
) -> Result<Decision<O>> {
    let id = held.id;
    // Without a lease this process has seen there is nothing to gain: reading it would cost what is saved.
    let Some(mut snapshot) = engine.cached(id) else {
        return Ok(Decision::Undecided);
    };
    let Ok(execution) = engine.visible(&snapshot, id).cloned() else {
        return Ok(Decision::Undecided);
    };
    // A refusal is not taken from memory.
    let Ok(mut decided) = rule(&execution, &held.context(engine, &snapshot, &execution)) else {
        return Ok(Decision::Undecided);
    };
    let ends = decided.draft.execution(id).is_some_and(Execution::is_terminal);
    let Some(flow) = execution.definition.flow.filter(|_| ends) else {
        return Ok(Decision::Undecided);
    };
    let known = engine.shared.flows.around((flow, id), EDGES_AT_ONCE_MAX, snapshot.now);
    let edges = match known {
        Some(Around::TooMany) => return Ok(Decision::Undecided),
        Some(Around::Known(around, edges)) => {
            merge(&mut snapshot, around);
            edges
        }
        None => match outbound_edges(engine, flow, id, &mut snapshot).await? {
            Some(edges) => edges,
            None => return Ok(Decision::Undecided),
        },
    };
    group::resolve_at_once(&mut decided.draft, id, &edges);
    for child in children(engine, &edges, &mut snapshot).await? {
        let context = Context {
            actor: Actor::Engine,
            ..engine.context_of(&snapshot, &child)
        };
        group::evaluate_at_once(&mut decided.draft, &child, &group_counts(&snapshot, child.id), &context);
    }
    Ok(Decision::Commit(snapshot, decided))
}

/// All edges out of an execution, if they are few; with the flow as it stood before they were listed, because an edge
/// staged since then must make the transaction conflict.
async fn outbound_edges(
    engine: &Engine,
    flow: FlowId,
    id: ExecutionId,
    snapshot: &mut Snapshot,
) -> Result<Option<Vec<Edge>>> {
    let flow = Load::records(id.partition(), [RecordKey::Flow(flow)]);
    merge(snapshot, engine.store().load(flow).await?);
    let page = engine
        .store()
        .list(engine.range(Index::EdgesFrom(id)), None, EDGES_AT_ONCE_MAX)
        .await?;
    if page.next.is_some() {
        return Ok(None);
    }
    let edges = page.edges();
    add_rows(snapshot, &edges);
    Ok(Some(edges.into_iter().map(|(edge, _)| edge).collect()))
}

/// The executions that wait for one of `edges`, kept in `snapshot` with the counters of their groups; read unless they are
/// there.
async fn children(engine: &Engine, edges: &[Edge], snapshot: &mut Snapshot) -> Result<Vec<Execution>> {
    let waiting = edges.iter().filter(|edge| edge.is_unresolved());
    let ids: BTreeSet<_> = waiting.map(|edge| edge.downstream).collect();
    let keys: Vec<_> = ids.iter().map(|id| RecordKey::Execution(*id)).collect();
    if !keys.iter().all(|key| snapshot.records.contains_key(key)) {
        let load = Load::records(snapshot.partition, keys.clone());
        let load = load.with_counters(ids.into_iter().flat_map(group_counters));
        merge(snapshot, engine.store().load(load).await?);
    }
    Ok(keys.iter().filter_map(|key| snapshot.execution(key).cloned()).collect())
}
