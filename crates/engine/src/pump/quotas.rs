//! Quotas that are due: the window moved, or a slot was freed, while work waits.

use ff_backend::limits;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::id::QuotaPolicyId;
use ff_core::machine::admission::Release;
use ff_core::record::Cause;

use super::duty::Duty;
use super::follow_up::Progress;
use super::{releases, slots};
use crate::engine::Engine;
use crate::fault::refused;

/// Releases as much of what waits for a quota as fits now.
pub(super) async fn advance(engine: &Engine, id: QuotaPolicyId) -> Result<Progress> {
    slots::saw_quota(engine, id);
    let release = match limits::quotas::advance(engine.store(), id).await.map_err(refused) {
        Ok(Some(release)) => release,
        Ok(None) => return Ok(Progress::Done),
        // A policy that is not there keeps its work blocked, and has nothing else to do.
        Err(refusal) if refusal.code == Code::QuotaPolicyNotFound => return Ok(Progress::Done),
        Err(refusal) => return Err(refusal),
    };
    let duty = duty_of(&release);
    let work = async {
        releases::release_blocked(engine, Cause::Quota(id), release).await?;
        Ok(Progress::Done)
    };
    duty.serve(engine, work).await
}

/// What made room: where there is a rate, the window.
const fn duty_of(release: &Release) -> Duty {
    match release.room.places {
        Some(_) => Duty::QuotaWindowMoved,
        None => Duty::SlotFreed,
    }
}
