//! get_lane: a lane with its queues, and who could take what waits in them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use ff_backend::query::{HeadsOf, LaneDepth, Listing};
use ff_core::capability::Signature;
use ff_core::command::lane::GetLane;
use ff_core::fabric::Result;
use ff_core::limits::{FITTING_SHOWN_MAX, PAGE_MAX, QUEUES_SHOWN_MAX};
use ff_core::machine::index::{Index, Order};
use ff_core::record::Worker;
use ff_core::view::{HowMany, LaneQueue, OneLane};

use super::lanes::lane_view;
use crate::directory::{lanes, workers};
use crate::engine::Engine;

pub(crate) async fn get_lane(engine: &Engine, request: GetLane) -> Result<OneLane> {
    let GetLane { namespace, lane_id } = &request;
    engine.check_namespace(namespace)?;
    let state = lanes::state_of(engine, namespace, lane_id).await?;
    let depth = depth(engine, &request).await?;
    let queues = queues(engine, &request).await?;
    let workers = serving(engine, &request).await?;
    let more_queues = queues.len().saturating_sub(QUEUES_SHOWN_MAX);
    let shown = queues.into_iter().take(QUEUES_SHOWN_MAX);
    Ok(OneLane {
        lane: lane_view(engine, namespace, lane_id, state, depth.as_ref()),
        queues: shown
            .map(|(signature, found)| queue(signature, found, &workers))
            .collect(),
        more_queues,
        workers: workers.len(),
    })
}

/// How much of the lane is in which state. Lanes come by name, so it is looked for up to its own.
async fn depth(engine: &Engine, request: &GetLane) -> Result<Option<LaneDepth>> {
    let mut pages = engine
        .store()
        .pages(Listing::Lanes(request.namespace.clone()), PAGE_MAX);
    while let Some(page) = pages.next().await? {
        let rows = page.lanes();
        let is_past = rows.last().is_some_and(|last| last.lane >= request.lane_id);
        let found = rows.into_iter().find(|depth| depth.lane == request.lane_id);
        if is_past || found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// What is best in a queue, and how long it is.
type Found = (Order, HowMany);

/// The queues of the lane, the longest first.
async fn queues(engine: &Engine, request: &GetLane) -> Result<Vec<(Signature, Found)>> {
    let counted = engine.counted_each();
    let everywhere = engine.flow_partitions();
    let mut queues: BTreeMap<Signature, Found> = BTreeMap::new();
    for head in engine.heads((HeadsOf::Queues, everywhere), counted).await? {
        let Index::Queue(key) = head.index else { continue };
        if key.namespace != request.namespace || key.lane != request.lane_id {
            continue;
        }
        let fresh = || (head.first.clone(), HowMany::default());
        let (best, length) = queues.entry(key.signature).or_insert_with(fresh);
        length.add(head.length, counted);
        if head.first < *best {
            *best = head.first;
        }
    }
    let mut queues = Vec::from_iter(queues);
    queues.sort_by_key(|(_, (_, length))| Reverse(length.n));
    Ok(queues)
}

/// The live workers that take work of the lane, by name.
async fn serving(engine: &Engine, request: &GetLane) -> Result<Vec<Worker>> {
    let all: Arc<[Worker]> = workers::all(engine, &request.namespace).await?;
    let now = engine.store_time().await?;
    let lane = (&request.namespace, &request.lane_id);
    let mut serving: Vec<Worker> = all.iter().filter(|worker| worker.takes(lane, now)).cloned().collect();
    serving.sort_by(|one, other| one.instance.cmp(&other.instance));
    Ok(serving)
}

fn queue(signature: Signature, (best, length): Found, workers: &[Worker]) -> LaneQueue {
    let fits = |worker: &&Worker| worker.capabilities.covers(&signature.capabilities);
    let fitting: Vec<&Worker> = workers.iter().filter(fits).collect();
    LaneQueue {
        length,
        best_at: best.as_score().map(|score| score.created_at),
        fits: fitting
            .iter()
            .take(FITTING_SHOWN_MAX)
            .map(|worker| worker.instance.clone())
            .collect(),
        fitting: fitting.len(),
        requires: signature.capabilities,
        budgets: signature.budgets,
        quota: signature.quota,
    }
}
