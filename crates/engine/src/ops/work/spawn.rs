//! spawn_children: the children, their edges and their steps in one transaction.

use ff_backend::load::Snapshot;
use ff_core::command::spawn::{Child, SpawnChildren, SpawnedChildren};
use ff_core::command::submit::LaneState;
use ff_core::fabric::{On, Result};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::machine::spawn::{self, FreshIds, Surroundings};
use ff_core::name::Namespace;
use ff_core::record::{CounterKey, Execution, FlowCounter, RecordKey};

use super::Held;
use crate::directory::{lanes, limits};
use crate::engine::Engine;
use crate::locked::Locked;
use crate::ops::flows::{FlowRead, no_flow};
use crate::snapshots::{group_counters, group_counts, merge};
use crate::transact::Decision;

/// Lanes, budgets and quotas are looked at first: what nobody could run is not started.
pub(crate) async fn spawn_children(
    engine: &Engine,
    command: On<ExecutionId, SpawnChildren>,
) -> Result<SpawnedChildren> {
    let On { id, command } = command;
    engine.check_id(id)?;
    let held = Held::naming(id, command.children.iter().map(|child| &child.step));
    let locked = engine.lock(RecordKey::Execution(id)).await;
    let fresh = fresh_ids(engine, id, command.children.len()).await?;
    let decide = || async {
        let snapshot = look(&locked, &held).await?;
        let parent = engine.visible(&snapshot, id)?;
        let lanes = lanes_of(engine, &parent.definition.namespace, &command.children).await?;
        let flow = parent.definition.flow;
        let flow = flow
            .map(|flow| FlowRead::of(&snapshot, flow).ok_or_else(|| no_flow(flow)))
            .transpose()?;
        let around = Surroundings {
            flow: flow.as_ref().map(FlowRead::loaded),
            counts: &group_counts(&snapshot, id),
            spawned: &spawned(&held, &snapshot),
            lanes: &lanes,
        };
        let context = held.context(engine, &snapshot, parent);
        let decided = spawn::spawn_children(parent, &command, around, &fresh, &context)?;
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}

/// The parent with its flow, the counters of both, and what the steps of these names have started.
async fn look(locked: &Locked<'_>, held: &Held) -> Result<Snapshot> {
    let engine = locked.engine;
    let seen = engine.shared.leases.get(held.id);
    let expected = seen.and_then(|seen| seen.execution.definition.flow);
    let mut load = held.load().with_counters(group_counters(held.id));
    if let Some(flow) = expected {
        load = with_flow(load, flow);
    }
    let mut snapshot = locked.look(load).await?;
    let parent = snapshot.execution(&RecordKey::Execution(held.id));
    let flow = parent.and_then(|parent| parent.definition.flow);
    let mut more = Engine::load_of(held.id);
    if let Some(flow) = flow.filter(|flow| Some(*flow) != expected) {
        more = with_flow(more, flow);
    }
    let children = held.stored(&snapshot).filter_map(|step| step.child);
    more.records.extend(children.map(RecordKey::Execution));
    if more != Engine::load_of(held.id) {
        merge(&mut snapshot, locked.load(more).await?);
    }
    Ok(snapshot)
}

fn with_flow(mut load: ff_backend::load::Load, flow: FlowId) -> ff_backend::load::Load {
    load.records.push(RecordKey::Flow(flow));
    load.with_counters(FlowCounter::all().map(|counter| CounterKey::Flow(flow, counter)))
}

fn spawned<'s>(held: &Held, snapshot: &'s Snapshot) -> Vec<&'s Execution> {
    let children = held.stored(snapshot).filter_map(|step| step.child);
    children
        .filter_map(|child| snapshot.execution(&RecordKey::Execution(child)))
        .collect()
}

/// The state of each child's lane. Refuses budgets and quota policies that the namespace does not have.
async fn lanes_of(engine: &Engine, namespace: &Namespace, children: &[Child]) -> Result<Vec<LaneState>> {
    let mut states = Vec::with_capacity(children.len());
    for child in children {
        limits::check(engine, namespace, &child.policy).await?;
        states.push(lanes::find_or_create(engine, namespace, &child.lane_id).await?);
    }
    Ok(states)
}

/// Ids in the parent's partition. That of a flow follows from its id, so one is drawn until it fits.
async fn fresh_ids(engine: &Engine, parent: ExecutionId, count: usize) -> Result<FreshIds> {
    let now = engine.store_time().await?;
    let partition = parent.partition();
    let flow = loop {
        let flow = FlowId::from_uuid(engine.mint(now));
        if engine.home_of(flow) == partition {
            break flow;
        }
    };
    let child = |_| ExecutionId::new(partition.index, engine.mint(now));
    let children = (0..count).map(child).collect();
    Ok(FreshIds { flow, children })
}
