//! The operations, one line each.

use async_trait::async_trait;
use ff_core::command::claim::{Claim, ClaimForWorker, Exchange, Exchanged, IssuedGrant, RedeemGrant, Task};
use ff_core::command::operator::IssueReclaimGrant;
use ff_core::fabric::{Claims, On, Result};
use ff_core::id::ExecutionId;

use super::redeem::GrantKind;
use crate::engine::Engine;

#[async_trait]
impl Claims for Engine {
    async fn claim_for_worker(&self, command: ClaimForWorker) -> Result<Option<IssuedGrant>> {
        self.grant_for_worker(command).await
    }

    async fn claim_from_grant(&self, command: RedeemGrant) -> Result<Task> {
        self.redeem_grant(command, GrantKind::Claim).await
    }

    async fn claim(&self, command: Claim) -> Result<Vec<Task>> {
        self.claim_tasks(command).await
    }

    async fn exchange(&self, command: Exchange) -> Result<Exchanged> {
        self.exchange_all(command).await
    }

    async fn issue_reclaim_grant(&self, command: On<ExecutionId, IssueReclaimGrant>) -> Result<IssuedGrant> {
        self.grant_for_reclaim(command).await
    }

    async fn claim_from_reclaim_grant(&self, command: RedeemGrant) -> Result<Task> {
        self.redeem_grant(command, GrantKind::Reclaim).await
    }
}
