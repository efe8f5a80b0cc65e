//! The liveness sweep: what lost hints may have hidden, and what a process forgets by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::fabric::Result;
use ff_core::partition::{Family, Partition};
use ff_core::record::Cause;
use futures::future::{join_all, select};

use super::duty::Duty;
use super::{audit, ranges, releases, slots};
use crate::directory::{generation_of, write_seen_workers};
use crate::engine::Engine;
use crate::lost_hints::make_up_for_lost_hints;

/// How often workers that were seen are written down.
const ROSTER_INTERVAL: Duration = Duration::from_secs(10);

/// Where each cause was last marked as having blocked work, and under which generation. While that stands, no release can
/// have forgotten it.
#[derive(Default)]
pub(super) struct Marks {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    marked: BTreeMap<Cause, (u64, BTreeSet<Partition>)>,
    /// A first full pass was made since the start, or since everything was forgotten.
    swept: bool,
}

impl Marks {
    /// Everything is marked anew by the next sweep.
    pub(super) fn forget_all(&self) {
        *self.inner() = Inner::default();
    }

    /// The partitions that must be marked for a cause with this generation.
    fn missing(&self, cause: Cause, generation: u64, found: BTreeSet<Partition>) -> BTreeSet<Partition> {
        match self.inner().marked.get(&cause) {
            Some((marked_at, marked)) if *marked_at == generation => found.difference(marked).copied().collect(),
            _ => found,
        }
    }

    fn marked(&self, cause: Cause, generation: u64, partitions: BTreeSet<Partition>) {
        let mut inner = self.inner();
        let entry = inner.marked.entry(cause).or_insert((generation, BTreeSet::new()));
        if entry.0 != generation {
            *entry = (generation, BTreeSet::new());
        }
        entry.1.extend(partitions);
    }

    /// Forgets causes that hold nothing back any more.
    fn keep_only(&self, causes: &BTreeMap<Cause, BTreeSet<Partition>>) {
        self.inner().marked.retain(|cause, _| causes.contains_key(cause));
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sweeps at once and then at every interval, until the engine stops.
pub(super) async fn run_sweeps(engine: &Engine) {
    let mut audited_at = engine.host().elapsed();
    while !engine.is_stopping() {
        if let Err(error) = sweep(engine).await {
            tracing::warn!(%error, "a liveness sweep broke off; the next one repeats it");
        }
        let now = engine.host().elapsed();
        if now.saturating_sub(audited_at) >= engine.shared.config.audit_interval {
            audited_at = now;
            if let Err(error) = audit::sweep(engine).await {
                tracing::warn!(%error, "an audit broke off; the next one goes on from there");
            }
        }
        let pause = engine.host().sleep(engine.shared.config.liveness_interval);
        select(pause, pin!(engine.stopped())).await;
    }
}

/// Writes down which workers were seen, so that they stay registered, until the engine stops.
pub(super) async fn run_roster(engine: &Engine) {
    while !engine.is_stopping() {
        let pause = engine.host().sleep(ROSTER_INTERVAL);
        select(pause, pin!(engine.stopped())).await;
        if Duty::WorkerTtl.is_served(engine)
            && let Err(error) = write_seen_workers(engine).await
        {
            tracing::warn!(%error, "workers that were seen could not be written down; the next time repeats it");
        }
    }
}

/// Looks at everything a lost hint may have hidden, and forgets what has ended.
pub(super) async fn sweep(engine: &Engine) -> Result<()> {
    if !Duty::LivenessSweep.is_served(engine) {
        return Ok(());
    }
    engine.shared.pump.agenda.ask();
    engine.shared.pump.poison.watch_anew();
    engine.shared.claim_queues.wake_all();
    if let Some(now) = engine.store().latest() {
        engine.shared.leases.forget_ended(now);
    }
    make_up_for_lost_hints(engine).await?;
    look_for_blocked_work(engine).await?;
    slots::request_checks(engine);
    Ok(())
}

/// Makes sure that every cause knows where work waits for it. One that admits work again is due with that, and the pump
/// releases what fits.
async fn look_for_blocked_work(engine: &Engine) -> Result<()> {
    let causes = blocked_causes(engine).await?;
    engine.shared.pump.marks.keep_only(&causes);
    // Only the first pass cannot tell what a process before it has known: work that waits for a slot only.
    let first = !std::mem::replace(&mut engine.shared.pump.marks.inner().swept, true);
    let checks = causes
        .into_iter()
        .map(|(cause, found)| mark_cause(engine, cause, found, first));
    join_all(checks).await.into_iter().collect::<Result<Vec<()>>>()?;
    Ok(())
}

async fn mark_cause(engine: &Engine, cause: Cause, found: BTreeSet<Partition>, first: bool) -> Result<()> {
    if let Cause::Quota(id) = cause {
        slots::saw_quota(engine, id);
    }
    // A cause that cannot be read keeps its work blocked.
    let Some(generation) = generation_of(engine, cause).await? else {
        return Ok(());
    };
    let missing = engine.shared.pump.marks.missing(cause, generation, found);
    if missing.is_empty() {
        return Ok(());
    }
    let marks = missing.iter().map(|partition| (*partition, first)).collect();
    releases::mark_partitions(engine, cause, &marks).await?;
    engine.shared.pump.marks.marked(cause, generation, missing);
    Ok(())
}

/// What holds work back in the partitions of this process, and where.
async fn blocked_causes(engine: &Engine) -> Result<BTreeMap<Cause, BTreeSet<Partition>>> {
    let mut partitions = ranges::own_partitions(engine);
    partitions.retain(|partition| partition.family == Family::Flow);
    let mut causes: BTreeMap<Cause, BTreeSet<Partition>> = BTreeMap::new();
    if partitions.is_empty() {
        return Ok(causes);
    }
    for (partition, cause) in engine.blocking_causes(partitions).await? {
        causes.entry(cause).or_default().insert(partition);
    }
    Ok(causes)
}
