//! Requests without an identity of their own, remembered so that a repetition acts once.

use std::mem::discriminant;

use serde::{Deserialize, Serialize};

use super::{PendingWaitpoint, UsageIdentity};
use crate::digest::Digest;
use crate::id::{BudgetId, SuspensionId};
use crate::limits::REQUESTS_REMEMBERED_MAX;
use crate::name::RequestId;

/// The last request ids of a record with what was answered, oldest first. Each operation has places of its own: however often
/// a worker asks for something, what an operator asked for is not forgotten.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestLog(Vec<(RequestId, RequestOutcome)>);

/// What a remembered request was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestOutcome {
    /// revoke_lease took the lease of this epoch.
    Revoked {
        /// Which lease.
        lease_epoch: u64,
    },
    /// replay_execution reopened it.
    Replayed,
    /// resume_execution ended this suspension.
    Resumed {
        /// Which suspension.
        suspension_id: SuspensionId,
    },
    /// create_pending_waitpoint made this one.
    PendingWaitpoint(PendingWaitpoint),
    /// reset_budget set its usage to zero.
    BudgetReset,
}

impl RequestLog {
    /// Everything this request was answered: one id may have been used for different operations.
    pub fn find(&self, request_id: Option<&RequestId>) -> impl Iterator<Item = &RequestOutcome> {
        let of_request = move |(id, _): &&(RequestId, RequestOutcome)| request_id.is_some_and(|wanted| id == wanted);
        self.0.iter().filter(of_request).map(|(_, outcome)| outcome)
    }

    /// Whether this request was answered so.
    pub fn remembers(&self, request_id: Option<&RequestId>, outcome: &RequestOutcome) -> bool {
        self.find(request_id).any(|answered| answered == outcome)
    }

    /// Remembers an answer, forgetting the oldest of its operation beyond the limit.
    pub fn remember(&mut self, request_id: Option<&RequestId>, outcome: RequestOutcome) {
        let Some(id) = request_id else { return };
        let is_alike = |(_, other): &(RequestId, RequestOutcome)| discriminant(other) == discriminant(&outcome);
        let alike = self.0.iter().filter(|answered| is_alike(answered)).count();
        if let Some(oldest) = self
            .0
            .iter()
            .position(is_alike)
            .filter(|_| alike == REQUESTS_REMEMBERED_MAX)
        {
            self.0.remove(oldest);
        }
        self.0.push((id.clone(), outcome));
    }
}

/// The last usage reports of an execution, oldest first, so that one repeated after its lease is answered. Nothing is counted
/// by it: the budget knows every report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReportLog(Vec<String>);

impl ReportLog {
    /// Whether this report was recorded.
    pub fn remembers(&self, budget_id: BudgetId, identity: &UsageIdentity) -> bool {
        self.0.contains(&name_of(budget_id, identity))
    }

    /// Remembers a report, forgetting the oldest beyond the limit.
    pub fn remember(&mut self, budget_id: BudgetId, identity: &UsageIdentity) {
        if self.0.len() == REQUESTS_REMEMBERED_MAX {
            self.0.remove(0);
        }
        self.0.push(name_of(budget_id, identity));
    }
}

fn name_of(budget_id: BudgetId, identity: &UsageIdentity) -> String {
    Digest::of("usage report", [budget_id.to_string(), identity.to_string()]).key()
}
