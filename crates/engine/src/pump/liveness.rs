//! The liveness sweep: what lost hints may have hidden, and what a process forgets by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_backend::query::Listing;
use ff_core::fabric::Result;
use ff_core::limits::PAGE_MAX;
use ff_core::partition::{Family, Partition};
use ff_core::record::Cause;
use futures::future::{join_all, select};

use super::duty::Duty;
use crate::directory::generation_of;
use crate::engine::Engine;

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

impl Engine {
    /// Sweeps at once and then at every interval, until the engine stops.
    pub(super) async fn run_sweeps(&self) {
        let mut audited_at = self.host().elapsed();
        while !self.is_stopping() {
            if let Err(error) = self.liveness_sweep().await {
                tracing::warn!(%error, "a liveness sweep broke off; the next one repeats it");
            }
            let now = self.host().elapsed();
            if now.saturating_sub(audited_at) >= self.shared.config.audit_interval {
                audited_at = now;
                if let Err(error) = self.audit_sweep().await {
                    tracing::warn!(%error, "an audit broke off; the next one goes on from there");
                }
            }
            let pause = self.host().sleep(self.shared.config.liveness_interval);
            select(pause, pin!(self.stopped())).await;
        }
    }

    /// Writes down which workers were seen, so that they stay registered, until the engine stops.
    pub(super) async fn run_roster(&self) {
        while !self.is_stopping() {
            let pause = self.host().sleep(ROSTER_INTERVAL);
            select(pause, pin!(self.stopped())).await;
            if self.serves(Duty::WorkerTtl)
                && let Err(error) = self.flush_roster().await
            {
                tracing::warn!(%error, "workers that were seen could not be written down; the next time repeats it");
            }
        }
    }

    /// One liveness sweep, with the workers that were seen: for whoever pumps by hand.
    pub async fn pump_sweep(&self) -> Result<()> {
        self.flush_roster().await?;
        self.pumping().liveness_sweep().await
    }

    async fn liveness_sweep(&self) -> Result<()> {
        if !self.serves(Duty::LivenessSweep) {
            return Ok(());
        }
        self.shared.pump.agenda.ask();
        self.shared.pump.poison.watch_anew();
        self.shared.claim_queues.wake_all();
        if let Some(now) = self.store().latest() {
            self.shared.leases.forget_ended(now);
        }
        self.look_for_blocked_work().await?;
        self.request_slot_checks();
        Ok(())
    }

    /// Makes sure that every cause knows where work waits for it. One that admits work again is due with that, and the pump
    /// releases what fits.
    async fn look_for_blocked_work(&self) -> Result<()> {
        let causes = self.blocked_causes().await?;
        self.shared.pump.marks.keep_only(&causes);
        // Only the first pass cannot tell what a process before it has known: work that waits for a slot only.
        let first = !std::mem::replace(&mut self.shared.pump.marks.inner().swept, true);
        let checks = causes
            .into_iter()
            .map(|(cause, found)| self.mark_cause(cause, found, first));
        join_all(checks).await.into_iter().collect::<Result<Vec<()>>>()?;
        Ok(())
    }

    async fn mark_cause(&self, cause: Cause, found: BTreeSet<Partition>, first: bool) -> Result<()> {
        if let Cause::Quota(id) = cause {
            self.saw_quota(id);
        }
        // A cause that cannot be read keeps its work blocked.
        let Some(generation) = generation_of(self, cause).await? else {
            return Ok(());
        };
        let missing = self.shared.pump.marks.missing(cause, generation, found);
        if missing.is_empty() {
            return Ok(());
        }
        let marks = missing.iter().map(|partition| (*partition, first)).collect();
        self.mark_partitions(cause, &marks).await?;
        self.shared.pump.marks.marked(cause, generation, missing);
        Ok(())
    }

    /// What holds work back in the partitions of this process, and where.
    async fn blocked_causes(&self) -> Result<BTreeMap<Cause, BTreeSet<Partition>>> {
        let mut partitions = self.own_partitions();
        partitions.retain(|partition| partition.family == Family::Flow);
        let mut causes: BTreeMap<Cause, BTreeSet<Partition>> = BTreeMap::new();
        let mut after = None;
        while !partitions.is_empty() {
            let listing = Listing::BlockedCauses(partitions.clone());
            let page = self.store().list(listing, after, PAGE_MAX).await?;
            after = page.next.clone();
            for (partition, cause) in page.causes() {
                causes.entry(cause).or_default().insert(partition);
            }
            if after.is_none() {
                break;
            }
        }
        Ok(causes)
    }
}
