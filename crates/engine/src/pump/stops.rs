//! A breached budget stops what runs under it.

use ff_backend::budget::BudgetCall;
use ff_backend::query::Listing;
use ff_core::fabric::Result;
use ff_core::id::BudgetId;
use ff_core::machine::lease;
use ff_core::time::Timestamp;

use super::follow_up::Progress;
use super::listed::{CHUNK, listed};
use crate::engine::Engine;

impl Engine {
    /// Asks every leased execution of a budget to stop, in chunks; the budget is told when all were asked. One that was
    /// asked before is not asked again, so a sweep that broke off simply starts anew.
    pub(super) async fn stop_running_under(
        &self,
        budget_id: BudgetId,
        reason: &str,
        began_at: Timestamp,
    ) -> Result<Progress> {
        let (mut after, mut failure) = (None, None);
        loop {
            let leased = Listing::LeasedUnder {
                partitions: self.flow_partitions(),
                budget_id,
            };
            let page = self.store().list(leased, after, CHUNK).await?;
            after = page.next.clone();
            let asked = self.change_all(listed(page), |execution, context| {
                lease::request_stop(execution, reason, context)
            });
            failure = asked.await.into_iter().find_map(std::result::Result::err).or(failure);
            if after.is_none() {
                break;
            }
            if self.is_stopping() {
                return Ok(Progress::Later);
            }
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        self.store()
            .budget(BudgetCall::Stopped { budget_id, began_at })
            .await?
            .1?;
        Ok(Progress::Done)
    }
}
