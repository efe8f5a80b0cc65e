//! The operations, one line each.

use ff_core::command::claim::{Claim, ClaimForWorker, Exchange, Exchanged, IssuedGrant, RedeemGrant, Task};
use ff_core::command::operator::IssueReclaimGrant;
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;

use crate::engine::Engine;

pub(crate) async fn claim_for_worker(engine: &Engine, command: ClaimForWorker) -> Result<Option<IssuedGrant>> {
    engine.grant_for_worker(command).await
}

pub(crate) async fn claim_from_grant(engine: &Engine, command: RedeemGrant) -> Result<Task> {
    engine.redeem_grant(command).await
}

pub(crate) async fn claim(engine: &Engine, command: Claim) -> Result<Vec<Task>> {
    engine.claim_tasks(command).await
}

pub(crate) async fn exchange(engine: &Engine, command: Exchange) -> Result<Exchanged> {
    engine.exchange_all(command).await
}

pub(crate) async fn issue_reclaim_grant(
    engine: &Engine,
    command: On<ExecutionId, IssueReclaimGrant>,
) -> Result<IssuedGrant> {
    engine.grant_for_reclaim(command).await
}
