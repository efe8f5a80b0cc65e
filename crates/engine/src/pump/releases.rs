//! Blocked work goes back to its queues: as much as fits, the best first.

use std::collections::BTreeSet;

use ff_backend::limits;
use ff_backend::query::Range;
use ff_core::error::Rejection;
use ff_core::fabric::Result;
use ff_core::machine::admission::{Headroom, Release};
use ff_core::machine::claim;
use ff_core::machine::index::Index;
use ff_core::partition::Partition;
use ff_core::record::{Cause, Execution};

use super::listed::{CHUNK, Listed, change_all, listed};
use super::{as_engine, budgets, quotas};
use crate::engine::Engine;
use crate::fault::refused;

/// Rows of a page that is only searched for work that continues an attempt.
const SEARCHED: usize = 256;

/// What stays blocked, and where.
#[derive(Default)]
struct Left {
    blocked: BTreeSet<Partition>,
    continuing: BTreeSet<Partition>,
    failure: Option<Rejection>,
}

impl Left {
    fn add(&mut self, partition: Partition, continues: bool) {
        self.blocked.insert(partition);
        if continues {
            self.continuing.insert(partition);
        }
    }
}

/// Work was blocked in these partitions (and continues an attempt, or not) by a cause that has moved on since it was
/// read: what fits goes back at once. A release that ran meanwhile may have forgotten the partitions, so they are
/// marked again first.
pub(crate) async fn release_cause(engine: &Engine, cause: Cause, blocked: &BTreeSet<(Partition, bool)>) -> Result<()> {
    mark_partitions(engine, cause, blocked).await?;
    match cause {
        Cause::Budget(id) => budgets::advance(&as_engine(engine), id).await?,
        Cause::Quota(id) => quotas::advance(&as_engine(engine), id).await?,
    };
    Ok(())
}

/// Work is about to be blocked by `cause` in these partitions, or is blocked there already.
pub(crate) async fn mark_partitions(
    engine: &Engine,
    cause: Cause,
    blocked: &BTreeSet<(Partition, bool)>,
) -> Result<()> {
    let marked = limits::mark(engine.store(), cause, blocked.iter().copied()).await;
    marked.map_err(refused)
}

/// Releases what there is room for, and forgets the partitions with nothing left. All room is used in one go: what a
/// quota promised to this release is kept from everybody else.
pub(super) async fn release_blocked(engine: &Engine, cause: Cause, release: Release) -> Result<()> {
    let Release {
        round,
        partitions,
        mut room,
    } = release;
    // No place is free, and still there is something to release: work that has its place already, wherever it stands.
    let searches = room.places == Some(0);
    let limit = if searches { SEARCHED } else { CHUNK };
    let mut left = Left::default();
    let blocked = Range::of(Index::Blocked(cause), partitions.clone());
    let mut pages = engine.store().pages(blocked, limit);
    while let Some(page) = pages.next().await? {
        release_page(engine, cause, listed(page), &mut room, &mut left).await;
        if engine.is_stopping() || is_used_up(room, searches) {
            break;
        }
    }
    if pages.is_over() {
        forget_released(engine, cause, round, &partitions, &left).await?;
    }
    left.failure.map_or(Ok(()), Err)
}

async fn release_page(engine: &Engine, cause: Cause, page: Vec<Listed>, room: &mut Headroom, left: &mut Left) {
    let mut fitting = Vec::new();
    for row in page {
        let (partition, continues) = (row.execution.id.partition(), continues(&row.execution));
        if room.take(continues) {
            fitting.push(row);
        } else {
            left.add(partition, continues);
        }
    }
    let partitions: Vec<_> = fitting
        .iter()
        .map(|row| (row.execution.id.partition(), continues(&row.execution)))
        .collect();
    let released = change_all(engine, fitting, |execution, context| {
        claim::unblock(execution, cause, context)
    });
    for ((partition, continues), outcome) in partitions.into_iter().zip(released.await) {
        if let Err(error) = outcome {
            left.add(partition, continues);
            left.failure = Some(error);
        }
    }
}

/// Everything was seen: partitions with nothing left need not be looked into next time.
async fn forget_released(
    engine: &Engine,
    cause: Cause,
    round: u64,
    partitions: &[Partition],
    left: &Left,
) -> Result<()> {
    let settled = partitions
        .iter()
        .filter(|partition| !left.continuing.contains(partition));
    let settled = settled.map(|partition| (*partition, left.blocked.contains(partition)));
    let forgotten = limits::forget(engine.store(), cause, round, settled).await;
    forgotten.map_err(refused)
}

/// Whether nothing more fits, as far as this release looks for it.
fn is_used_up(room: Headroom, searches: bool) -> bool {
    room.slots == Some(0) || (room.places == Some(0) && !searches)
}

/// Whether the next claim of an execution goes on with its attempt.
pub(super) fn continues(execution: &Execution) -> bool {
    execution
        .runnable()
        .is_some_and(|runnable| runnable.next_claim.continues)
}
