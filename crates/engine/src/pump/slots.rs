//! Quota slots that nobody holds any more: somebody died before giving them back.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_backend::limits;
use ff_core::fabric::Result;
use ff_core::id::QuotaPolicyId;
use ff_core::ledger::Hold;
use ff_core::machine::quota::holds_slot;
use ff_core::record::RecordKey;
use futures::future::join_all;

use super::follow_up::Progress;
use super::items::Item;
use super::outbox;
use crate::engine::Engine;
use crate::fault::refused;

/// How often the slots of a quota are checked.
const CHECK_INTERVAL: Duration = Duration::from_mins(1);
/// Slots of one page.
const PAGE: usize = 256;
/// Quotas remembered; those seen longest ago are forgotten first.
const QUOTAS_MAX: usize = 4_096;

/// Quotas this process has met, and when it did last.
#[derive(Default)]
pub(super) struct Slots {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    seen: BTreeMap<QuotaPolicyId, Duration>,
    checked_at: Option<Duration>,
}

impl Slots {
    fn saw(&self, id: QuotaPolicyId, now: Duration) {
        let mut inner = self.inner();
        inner.seen.insert(id, now);
        if inner.seen.len() > QUOTAS_MAX
            && let Some(oldest) = inner.seen.iter().min_by_key(|(_, at)| **at).map(|(id, _)| *id)
        {
            inner.seen.remove(&oldest);
        }
    }

    /// The quotas to check, when it is time to.
    pub(super) fn to_check(&self, now: Duration) -> Vec<QuotaPolicyId> {
        let mut inner = self.inner();
        if inner
            .checked_at
            .is_some_and(|at| now.saturating_sub(at) < CHECK_INTERVAL)
        {
            return Vec::new();
        }
        inner.checked_at = Some(now);
        inner.seen.keys().copied().collect()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// This process met a quota: its slots are checked from time to time.
pub(super) fn saw_quota(engine: &Engine, id: QuotaPolicyId) {
    engine.shared.pump.slots.saw(id, engine.host().elapsed());
}

/// Asks for a check of every quota this process has met, when it is time to.
pub(super) fn request_checks(engine: &Engine) {
    let quotas = engine.shared.pump.slots.to_check(engine.host().elapsed());
    for id in quotas {
        engine.shared.pump.findings.add(Item::Slots(id));
    }
    engine.shared.pump.agenda.wake();
}

/// Frees the slots of a quota that are so old that their grant must have become a lease, and that no lease holds.
pub(super) async fn check(engine: &Engine, id: QuotaPolicyId) -> Result<Progress> {
    let mut after = None;
    loop {
        let slots = limits::quotas::old_slots(engine.store(), id, after, PAGE).await;
        let slots = slots.map_err(refused)?;
        let checks = slots.iter().map(|slot| check_slot(engine, id, slot));
        join_all(checks).await.into_iter().collect::<Result<Vec<()>>>()?;
        match slots.last() {
            Some(last) if slots.len() == PAGE => after = Some(last.grant),
            _ => return Ok(Progress::Done),
        }
    }
}

async fn check_slot(engine: &Engine, quota_policy_id: QuotaPolicyId, slot: &Hold) -> Result<()> {
    let (id, grant_id) = (slot.holder, slot.grant);
    // A lease remembered here may have ended elsewhere; then it is forgotten soon, and found by the next check.
    let remembered = engine.shared.leases.get(id);
    if remembered.is_some_and(|held| holds_slot(&held.execution, grant_id)) {
        return Ok(());
    }
    let snapshot = engine.store().load(Engine::load_of(id)).await?;
    let execution = snapshot.execution(&RecordKey::Execution(id));
    if execution.is_some_and(|execution| holds_slot(execution, grant_id)) {
        return Ok(());
    }
    tracing::warn!(%quota_policy_id, execution_id = %id, "a slot nobody holds is freed");
    outbox::release_slot(engine, quota_policy_id, grant_id).await
}
