//! Follow-up work that is due at once: what records owe to others, and what was nudged.

use ff_core::error::{Code, Rejection};
use ff_core::id::ExecutionId;
use ff_core::machine::group;
use ff_core::machine::outbox::{self, Arrived};
use ff_core::machine::reopen::{self, Page};
use ff_core::record::{Edge, Execution, RecordKey};

use crate::flows::{advance_flow, group_counts};
use crate::support::World;

/// Does what records owe to others, until nothing is owed. Members of a cancelled flow are left to the operation that is
/// about them, and timers to time.
pub(crate) fn pump(world: &mut World) -> Result<(), Rejection> {
    for _ in 0..100 {
        let owing: Vec<Execution> = world.executions().into_iter().filter(owes).collect();
        let nudged = world.take_nudged();
        if owing.is_empty() && nudged.is_empty() {
            return Ok(());
        }
        for execution in owing {
            settle(world, &execution)?;
        }
        for key in nudged {
            evaluate(world, &key)?;
        }
    }
    Err(Code::Internal.because("follow-up work does not end"))
}

fn owes(execution: &Execution) -> bool {
    !execution.is_deleting() && (!execution.outbox.is_empty() || execution.follow_ups.any())
}

fn settle(world: &mut World, execution: &Execution) -> Result<(), Rejection> {
    let outbox = execution.outbox.iter();
    let sent: Vec<_> = outbox.map(|effect| Arrived::silently(effect.id)).collect();
    if !sent.is_empty() {
        return world.decide(execution.id, |execution, context| {
            Ok(outbox::arrived(execution, &sent, &[], context))
        });
    }
    if execution.follow_ups.resolve_edges {
        let edges = outbound(world, execution.id);
        return world.decide(execution.id, |execution, context| {
            Ok(group::resolve_edges(execution, &edges, true, context))
        });
    }
    if execution.follow_ups.reopen_edges {
        return reopen(world, execution.id);
    }
    Err(Code::Internal.because("follow-up work that no situation leads to"))
}

/// Reopens the edges around a replayed execution, all of them at once.
fn reopen(world: &mut World, id: ExecutionId) -> Result<(), Rejection> {
    let edges = world.edges();
    let mut inbound = Vec::new();
    let mut outbound = Vec::new();
    for edge in &edges {
        if edge.downstream == id {
            inbound.push((edge, world.execution(edge.upstream)?));
        }
        if edge.upstream == id {
            outbound.push((
                edge,
                world.execution(edge.downstream)?,
                group_counts(world, edge.downstream),
            ));
        }
    }
    let inbound: Vec<_> = inbound.iter().map(|(edge, upstream)| (*edge, upstream)).collect();
    let outbound: Vec<_> = outbound
        .iter()
        .map(|(edge, child, counts)| (*edge, child, *counts))
        .collect();
    let page = Page {
        inbound: &inbound,
        outbound: &outbound,
        last: true,
    };
    world.decide(id, |execution, context| {
        Ok(reopen::reopen_edges(execution, page, context))
    })?;
    Ok(())
}

fn evaluate(world: &mut World, key: &RecordKey) -> Result<(), Rejection> {
    match key {
        RecordKey::Flow(flow) => advance_flow(world, *flow),
        RecordKey::Execution(id) => {
            let counts = group_counts(world, *id);
            world.decide(*id, |execution, context| {
                Ok(group::evaluate(execution, &counts, context))
            })?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn outbound(world: &World, upstream: ExecutionId) -> Vec<Edge> {
    world
        .edges()
        .into_iter()
        .filter(|edge| edge.upstream == upstream)
        .collect()
}
