//! What stands around executions: the reasons for waiting that are not facts of the execution itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ff_backend::limits;
use ff_backend::load::{Load, Snapshot};
use ff_core::command::submit::LaneState;
use ff_core::fabric::Result;
use ff_core::id::{FlowId, QuotaPolicyId};
use ff_core::machine::admission::Headroom;
use ff_core::name::{LaneId, Namespace};
use ff_core::overlay::{Surroundings, observed_state};
use ff_core::partition::Partition;
use ff_core::record::{Execution, GateState, Record, RecordKey, Worker};
use ff_core::state::{EligibilityState, StateVector, state_vector};
use ff_core::time::Timestamp;
use ff_core::view::NearestWorker;
use futures::future::try_join_all;

use crate::directory::{lanes, workers};
use crate::engine::Engine;
use crate::fault::refused;

/// Workers named to somebody who asks why nobody takes an execution.
const NEAREST_MAX: usize = 5;

/// Lanes, workers, gates and quotas around some executions, as they were read for one answer.
#[derive(Default)]
pub(super) struct Environment {
    now: Timestamp,
    gates: Gates,
    lanes: BTreeMap<(Namespace, LaneId), LaneState>,
    workers: BTreeMap<Namespace, Arc<[Worker]>>,
    /// `None`: the policy is not there any more.
    headrooms: BTreeMap<QuotaPolicyId, Option<Headroom>>,
}

pub(super) type Gates = BTreeMap<FlowId, GateState>;

pub(super) fn gates_in(snapshot: &Snapshot) -> Gates {
    let gate = |record: &Record| match record {
        Record::Gate(gate) => Some((gate.flow_id, gate.state)),
        _ => None,
    };
    snapshot
        .records
        .values()
        .filter_map(|(record, _)| gate(record))
        .collect()
}

/// What may be in the way of `executions` besides their own facts. Only what those leave eligible is worth a question,
/// and everything is asked for once.
pub(super) async fn environment_of_eligible(
    engine: &Engine,
    executions: &[&Execution],
    gates: Gates,
) -> Result<Environment> {
    let is_eligible =
        |execution: &Execution| state_vector(execution).eligibility_state == EligibilityState::EligibleNow;
    let eligible: Vec<&Execution> = executions.iter().copied().filter(|found| is_eligible(found)).collect();
    environment_of(engine, &eligible, gates).await
}

/// The same, whatever the facts of the executions say.
pub(super) async fn environment_of(engine: &Engine, executions: &[&Execution], gates: Gates) -> Result<Environment> {
    if executions.is_empty() {
        return Ok(Environment::default());
    }
    let definitions = || executions.iter().map(|execution| &execution.definition);
    let lanes = definitions().map(|definition| (definition.namespace.clone(), definition.lane.clone()));
    let namespaces = definitions().map(|definition| definition.namespace.clone());
    let quotas = definitions().filter_map(|definition| definition.policy.quota_policy_id);
    Ok(Environment {
        gates: with_gates_of(engine, executions, gates).await?,
        lanes: lane_states(engine, lanes.collect()).await?,
        workers: workers_of(engine, namespaces.collect()).await?,
        headrooms: headrooms(engine, quotas.collect()).await?,
        now: engine.store_time().await?,
    })
}

async fn with_gates_of(engine: &Engine, executions: &[&Execution], mut gates: Gates) -> Result<Gates> {
    let flow_of = |execution: &&Execution| Some((execution.definition.flow?, execution.id.partition()));
    let unknown = executions
        .iter()
        .filter_map(flow_of)
        .filter(|(flow, _)| !gates.contains_key(flow));
    let unknown: BTreeSet<(FlowId, Partition)> = unknown.collect();
    let loads = unknown
        .into_iter()
        .map(|(flow, partition)| engine.store().load(Load::records(partition, [RecordKey::Gate(flow)])));
    for snapshot in try_join_all(loads.collect::<Vec<_>>()).await? {
        gates.extend(gates_in(&snapshot));
    }
    Ok(gates)
}

async fn lane_states(
    engine: &Engine,
    lanes: BTreeSet<(Namespace, LaneId)>,
) -> Result<BTreeMap<(Namespace, LaneId), LaneState>> {
    let states = lanes
        .iter()
        .map(|(namespace, lane)| lanes::state_of(engine, namespace, lane));
    let states = try_join_all(states.collect::<Vec<_>>()).await?;
    Ok(lanes.into_iter().zip(states).collect())
}

async fn workers_of(engine: &Engine, namespaces: BTreeSet<Namespace>) -> Result<BTreeMap<Namespace, Arc<[Worker]>>> {
    let workers = namespaces.iter().map(|namespace| workers::all(engine, namespace));
    let workers = try_join_all(workers.collect::<Vec<_>>()).await?;
    Ok(namespaces.into_iter().zip(workers).collect())
}

async fn headrooms(
    engine: &Engine,
    quotas: BTreeSet<QuotaPolicyId>,
) -> Result<BTreeMap<QuotaPolicyId, Option<Headroom>>> {
    let found = quotas.iter().map(|id| headroom(engine, *id));
    let found = try_join_all(found.collect::<Vec<_>>()).await?;
    Ok(quotas.into_iter().zip(found).collect())
}

async fn headroom(engine: &Engine, id: QuotaPolicyId) -> Result<Option<Headroom>> {
    limits::quotas::headroom(engine.store(), id).await.map_err(refused)
}

impl Environment {
    /// The state of an execution as it shows from here.
    ///
    /// A promise stands whatever closes after it was made: the slot of a granted execution is its own, and a paused lane
    /// does not take it back. Only a cancelled flow does.
    pub(super) fn observed_state(&self, execution: &Execution) -> StateVector {
        if execution.grant().is_some() && self.gate(execution) != Some(GateState::Cancelled) {
            return state_vector(execution);
        }
        let surroundings = Surroundings {
            now: self.now,
            lane: self.lane(execution),
            gate: self.gate(execution),
            workers: self.workers(execution),
            quota_full: self.is_quota_full(execution),
        };
        observed_state(execution, &surroundings)
    }

    pub(super) fn lane(&self, execution: &Execution) -> LaneState {
        let definition = &execution.definition;
        let lane = (definition.namespace.clone(), definition.lane.clone());
        self.lanes.get(&lane).copied().unwrap_or_default()
    }

    pub(super) fn gate(&self, execution: &Execution) -> Option<GateState> {
        self.gates.get(&execution.definition.flow?).copied()
    }

    /// How much more its quota admits; `None` when it has no quota, or one that is not there.
    pub(super) fn headroom(&self, execution: &Execution) -> Option<Headroom> {
        let quota = execution.definition.policy.quota_policy_id?;
        self.headrooms.get(&quota).copied().flatten()
    }

    /// Whether its quota has no room for it. A policy that is not there admits nobody: its limits are lost, not lifted.
    pub(super) fn is_quota_full(&self, execution: &Execution) -> bool {
        if execution.definition.policy.quota_policy_id.is_none() {
            return false;
        }
        let continues = execution
            .runnable()
            .map_or(execution.has_run(), |runnable| runnable.next_claim.continues);
        self.headroom(execution).is_none_or(|mut room| !room.take(continues))
    }

    pub(super) fn workers_of_lane(&self, execution: &Execution) -> impl Iterator<Item = &Worker> {
        let definition = Arc::clone(&execution.definition);
        self.workers(execution)
            .iter()
            .filter(move |worker| worker.takes((&definition.namespace, &definition.lane), self.now))
    }

    /// Live workers of its lane, those that lack the fewest capabilities first.
    pub(super) fn nearest_workers(&self, execution: &Execution) -> Vec<NearestWorker> {
        let required = &execution.definition.policy.routing_requirements.required_capabilities;
        let mut nearest: Vec<NearestWorker> = self
            .workers_of_lane(execution)
            .map(|worker| NearestWorker {
                instance: worker.instance.clone(),
                missing: required
                    .missing_from(&worker.capabilities)
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
            })
            .collect();
        nearest.sort_by(|a, b| (a.missing.len(), &a.instance).cmp(&(b.missing.len(), &b.instance)));
        nearest.truncate(NEAREST_MAX);
        nearest
    }

    fn workers(&self, execution: &Execution) -> &[Worker] {
        let workers = self.workers.get(&execution.definition.namespace);
        workers.map_or(&[], |workers| &workers[..])
    }
}
