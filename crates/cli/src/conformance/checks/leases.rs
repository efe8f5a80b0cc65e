//! Renewals, stops, lost leases.

use std::time::Instant;

use ff_core::command::operator::RevokeLease;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::limits::UNCONFIRMED_LEASE_TTL_MAX;
use serde_json::json;

use crate::conformance::stand::Stand;

/// A handler that runs until it is told to stop.
async fn running(stand: &Stand) -> anyhow::Result<ExecutionId> {
    stand.start_worker().await?;
    let id = stand.submit("stoppable", &json!(null)).await?;
    stand.noted(id, "begun", 1).await?;
    Ok(id)
}

/// Time stands still for the engine, so that a renewal shows as a lease that ends later.
pub(super) async fn renewals(stand: &Stand) -> anyhow::Result<()> {
    let id = running(stand).await?;
    let (began, first) = (Instant::now(), stand.view(id).await?.lease_expires_at);
    let lease = std::time::Duration::from_millis(UNCONFIRMED_LEASE_TTL_MAX.as_millis());
    loop {
        let view = stand.view(id).await?;
        if view.lease_expires_at > first {
            return Ok(());
        }
        anyhow::ensure!(
            began.elapsed() < lease,
            "a lease of {lease:?} was not renewed while it lasted: the task would be handed to another worker now"
        );
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

pub(super) async fn stop(stand: &Stand) -> anyhow::Result<()> {
    let id = running(stand).await?;
    stand.run(id).cancel("a check wants it to stop").await?;
    stand.noted(id, "stopped", 1).await
}

pub(super) async fn revoked(stand: &Stand) -> anyhow::Result<()> {
    let id = running(stand).await?;
    revoke(stand, id).await?;
    stand.noted(id, "stopped", 1).await?;
    stand.noted(id, "begun", 2).await?;
    stand.run(id).cancel("that was all").await?;
    Ok(())
}

/// Takes the lease away.
pub(super) async fn revoke(stand: &Stand, id: ExecutionId) -> anyhow::Result<()> {
    let revoke = RevokeLease {
        reason: Some("a check takes it away".to_owned()),
        expected_lease_epoch: None,
        request_id: None,
    };
    stand.client.revoke_lease(On::new(id, revoke)).await?;
    Ok(())
}
