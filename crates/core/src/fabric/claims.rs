//! Getting work.

use async_trait::async_trait;

use super::{On, Result};
use crate::command::claim::{Claim, ClaimForWorker, Exchange, Exchanged, IssuedGrant, RedeemGrant, Task};
use crate::command::operator::IssueReclaimGrant;
use crate::id::ExecutionId;

/// Getting work, one step at a time or all at once.
#[async_trait]
pub trait Claims: Send + Sync {
    /// One grant, or none when nothing is eligible for this worker.
    async fn claim_for_worker(&self, command: ClaimForWorker) -> Result<Option<IssuedGrant>>;

    /// Turns a grant into a lease. The same instance gets the same task again while its lease lives.
    async fn claim_from_grant(&self, command: RedeemGrant) -> Result<Task>;

    /// Reserves, admits and leases in one step, parking up to `wait` until there is something.
    ///
    /// Not safe to repeat: what a lost reply handed out comes back by itself when its short first lease ends. A process whose
    /// instance is another live one's is refused, here and in an exchange that wants something.
    async fn claim(&self, command: Claim) -> Result<Vec<Task>>;

    /// The one call of a remote worker's loop: what it finished, what it renews, what it can take.
    async fn exchange(&self, command: Exchange) -> Result<Exchanged>;

    /// Promises an execution that lost its worker to a given one.
    async fn issue_reclaim_grant(&self, command: On<ExecutionId, IssueReclaimGrant>) -> Result<IssuedGrant>;

    /// Turns a reclaim grant into a lease.
    async fn claim_from_reclaim_grant(&self, command: RedeemGrant) -> Result<Task>;
}
