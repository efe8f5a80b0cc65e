//! Which lists have everything a request wants, and as little else as may be.

use ff_backend::query::Range;
use ff_core::command::submit::LaneState;
use ff_core::fabric::Result;
use ff_core::machine::index::Index;
use ff_core::machine::placement::QueueKey;
use ff_core::name::{LaneId, Namespace};
use ff_core::record::{Worker, has_capable};
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use ff_core::view::{HeldBackBy, ListExecutions, ListOrder};

use crate::directory::{lanes, workers};
use crate::engine::Engine;
use crate::lists::created_between;

pub(super) async fn range(engine: &Engine, request: &mut ListExecutions) -> Result<Range> {
    if request.order == ListOrder::Next {
        return next_in_lane(engine, request).await;
    }
    match request.cause[..] {
        [cause @ (HeldBackBy::Lane | HeldBackBy::Capabilities)] => queues_held_back(engine, request, cause).await,
        [HeldBackBy::Account(account)] => Ok(engine.range(Index::Blocked(account))),
        _ => Ok(created_between(
            engine.ranges(newest_first(request)),
            request.created_from,
            request.created_before,
        )),
    }
}

fn newest_first(request: &ListExecutions) -> Vec<Index> {
    if let Some(flow_id) = request.flow_id {
        return vec![Index::Members(flow_id)];
    }
    let Some(namespace) = &request.namespace else {
        return vec![Index::Age(None)];
    };
    if let Some(tag) = request.tag.first() {
        return vec![Index::Tag(namespace.clone(), tag.key.clone(), tag.value.clone())];
    }
    let mut of_causes: Vec<Index> = request
        .cause
        .iter()
        .filter_map(|cause| of_cause(namespace, *cause))
        .collect();
    of_causes.sort();
    of_causes.dedup();
    if !of_causes.is_empty() {
        return of_causes;
    }
    let of_states = request.state.iter().map(|state| Index::of_state(namespace, *state));
    match of_states.collect::<Option<Vec<_>>>() {
        Some(of_states) if !of_states.is_empty() => of_states,
        _ => vec![Index::Age(Some(namespace.clone()))],
    }
}

/// The list of what a cause holds back, newest first; what stands around executions has none.
fn of_cause(namespace: &Namespace, cause: HeldBackBy) -> Option<Index> {
    let of_state = |state| Index::of_state(namespace, state);
    match cause {
        HeldBackBy::Kind(_) | HeldBackBy::Account(_) => of_state(PublicState::RateLimited),
        HeldBackBy::Dependencies => of_state(PublicState::WaitingChildren),
        HeldBackBy::Delay => of_state(PublicState::Delayed),
        HeldBackBy::Hold => Some(Index::Held(namespace.clone())),
        HeldBackBy::Lane | HeldBackBy::Capabilities => None,
    }
}

/// What is handed out next in a lane: its queues, in their order.
async fn next_in_lane(engine: &Engine, request: &mut ListExecutions) -> Result<Range> {
    let namespace = namespace_of(engine, request)?;
    let lanes = &request.lane;
    let of_lane = |queue: &QueueKey| queue.namespace == namespace && lanes.contains(&queue.lane);
    Ok(engine.ranges(engine.queues(of_lane).await?))
}

/// What would be handed out but for its lane, or but for what it requires of a worker: the queues of which that is true.
async fn queues_held_back(engine: &Engine, request: &mut ListExecutions, cause: HeldBackBy) -> Result<Range> {
    let namespace = namespace_of(engine, request)?;
    let stopped = stopped_lanes(engine, &namespace).await?;
    let workers = workers::all(engine, &namespace).await?;
    let now = engine.store_time().await?;
    let is_held_back = |queue: &QueueKey| {
        let is_stopped = stopped.contains(&queue.lane);
        queue.namespace == namespace
            && match cause {
                HeldBackBy::Lane => is_stopped,
                _ => !is_stopped && !is_taken(queue, &workers, now),
            }
    };
    Ok(engine.ranges(engine.queues(is_held_back).await?))
}

/// The lanes that hand nothing out.
async fn stopped_lanes(engine: &Engine, namespace: &Namespace) -> Result<Vec<LaneId>> {
    let lanes = lanes::all(engine, namespace).await?.into_iter();
    let is_stopped = |state: LaneState| !state.hands_out();
    Ok(lanes
        .filter(|lane| is_stopped(lane.state))
        .map(|lane| lane.lane)
        .collect())
}

/// Whether somebody takes what is in a queue.
pub(crate) fn is_taken(queue: &QueueKey, workers: &[Worker], now: Timestamp) -> bool {
    let required = &queue.signature.capabilities;
    has_capable(workers, (&queue.namespace, &queue.lane), required, now)
}

/// The one namespace a list of queues is about.
fn namespace_of(engine: &Engine, request: &mut ListExecutions) -> Result<Namespace> {
    let namespace = request.namespace.get_or_insert_with(Namespace::default_namespace);
    engine.check_namespace(namespace)?;
    Ok(namespace.clone())
}
