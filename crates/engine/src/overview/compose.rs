//! An overview from what was read and what this process counts: no call to the store.

use std::cmp::Reverse;

use ff_backend::query::LaneDepth;
use ff_core::limits::LANES_AT_A_GLANCE;
use ff_core::name::{LaneId, Namespace, WorkerInstanceId};
use ff_core::record::Worker;
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use ff_core::view::{
    HeldBack, HeldBackKind, HowMany, LaneOverview, Minute, MoreLanes, Overview, Rates, SeriesOf, WorkersSeen,
};

use super::judge::{self, Judged, LaneCounted};
use super::look::{Facts, held_back};
use crate::engine::Engine;
use crate::ops::reads;
use crate::series::{LANE_COUNTS, minute_of};

/// Lost workers that are named.
const LOST_MAX: usize = 10;

/// How a namespace fares now, by what was read of it.
pub(super) fn overview(engine: &Engine, namespace: &Namespace, facts: &Facts, now: Timestamp) -> Overview {
    let of_state = |state| facts.states.get(&state).copied().unwrap_or_default();
    let lanes = lanes(engine, namespace, facts, now);
    let causes = causes(facts, &lanes);
    let live: Vec<&Worker> = facts.workers.iter().filter(|worker| worker.is_live(now)).collect();
    let slots: Vec<u32> = live.iter().filter_map(|worker| worker.slots).collect();
    let workers = WorkersSeen {
        live: live.len() as u64,
        lost: lost(&facts.workers, now),
    };
    let attention = judge::attention(&Judged {
        lanes: &lanes,
        causes: &causes,
        approvals: &facts.approvals,
        closed_budgets: &facts.closed_budgets,
        workers: &workers,
        now,
    });
    let mut shown = lanes;
    let more = shown.split_off(shown.len().min(LANES_AT_A_GLANCE));
    Overview {
        namespace: namespace.clone(),
        as_of: now,
        running: of_state(PublicState::Active),
        slots: (!slots.is_empty()).then(|| slots.iter().map(|slots| u64::from(*slots)).sum()),
        states: facts.states.clone(),
        per_second: rates(engine, namespace, now),
        lanes: shown,
        more_lanes: more_lanes(more),
        causes,
        approvals: facts.approvals,
        closed_budgets: facts.closed_budgets.clone(),
        workers,
        attention,
        minute: minute(engine, namespace, now),
    }
}

/// All lanes: those with problems first, then those with most to do.
fn lanes(engine: &Engine, namespace: &Namespace, facts: &Facts, now: Timestamp) -> Vec<LaneOverview> {
    let of_lane = |depth: &LaneDepth| {
        let lane = reads::lane_view(engine, namespace, &depth.lane, facts.lane(&depth.lane), Some(depth));
        let counted = counted(engine, namespace, &depth.lane, now);
        let takes = |worker: &Worker| worker.takes((namespace, &depth.lane), now);
        LaneOverview {
            failed_per_s: counted.failed / 60.0,
            problems: judge::problems_of(&lane, facts.workers.iter().any(takes), &counted, now),
            lane,
        }
    };
    let mut lanes: Vec<LaneOverview> = facts.depths.iter().map(of_lane).collect();
    lanes.sort_by_cached_key(|lane| {
        let open = lane.lane.depth.iter().filter(|(state, _)| !state.is_terminal());
        let open: u64 = open.map(|(_, count)| count).sum();
        (lane.problems.is_empty(), Reverse(open), lane.lane.lane_id.clone())
    });
    lanes
}

/// What holds work back, most of it first.
fn causes(facts: &Facts, lanes: &[LaneOverview]) -> Vec<HeldBack> {
    let exactly = |n| HowMany { n, at_least: false };
    let of_state = |state| exactly(facts.states.get(&state).copied().unwrap_or_default());
    let mut causes = facts.accounts.clone();
    causes.extend(held_back(
        HeldBackKind::Dependencies,
        of_state(PublicState::WaitingChildren),
    ));
    causes.extend(held_back(HeldBackKind::Delay, of_state(PublicState::Delayed)));
    causes.extend(held_back(HeldBackKind::Capabilities, facts.unfit));
    causes.extend(held_back(HeldBackKind::Hold, facts.held));
    let stopped = lanes.iter().filter(|lane| !lane.lane.state.hands_out());
    causes.extend(stopped.filter_map(|lane| {
        let held = held_back(HeldBackKind::Lane, exactly(judge::waiting_in(&lane.lane)))?;
        let name = Some(lane.lane_id().to_string());
        Some(HeldBack { name, ..held })
    }));
    causes.sort_by_key(|held| Reverse(held.count.n));
    causes
}

fn lost(workers: &[Worker], now: Timestamp) -> Vec<WorkerInstanceId> {
    let had_work = |worker: &&Worker| !worker.is_live(now) && worker.running.is_some_and(|running| running > 0);
    let lost = workers.iter().filter(had_work);
    lost.map(|worker| worker.instance.clone()).take(LOST_MAX).collect()
}

/// What this process counted of a lane.
fn counted(engine: &Engine, namespace: &Namespace, lane: &LaneId, now: Timestamp) -> LaneCounted {
    let lately = engine.shared.minutes.lately(namespace, lane, now);
    LaneCounted {
        ended: lately.ended,
        failed: lately.failed,
        ended_in_hour: lately.ended_in_hour,
        failed_in_hour: lately.failed_in_hour,
        oldest: lately.looks,
    }
}

fn rates(engine: &Engine, namespace: &Namespace, now: Timestamp) -> Rates {
    let lately = engine.shared.minutes.all_lately(namespace, now);
    let rate = |column: usize| lately[column] / 60.0;
    Rates {
        submitted: rate(LANE_COUNTS.submitted),
        completed: rate(LANE_COUNTS.completed),
        failed: rate(LANE_COUNTS.failed) + rate(LANE_COUNTS.expired),
    }
}

fn minute(engine: &Engine, namespace: &Namespace, now: Timestamp) -> Minute {
    let last = minute_of(now).saturating_sub(1);
    let steps = reads::Steps::new(last, last, 1);
    Minute {
        at: Timestamp::from_millis(last * 60_000),
        columns: reads::columns(engine, namespace, SeriesOf::All, &steps),
    }
}

fn more_lanes(more: Vec<LaneOverview>) -> Option<MoreLanes> {
    if more.is_empty() {
        return None;
    }
    let mut all = MoreLanes::default();
    for lane in more {
        all.lanes += 1;
        all.throughput += lane.lane.throughput;
        all.failed_per_s += lane.failed_per_s;
        for (state, count) in lane.lane.depth {
            *all.depth.entry(state).or_default() += count;
        }
    }
    Some(all)
}
