//! The budgets of a namespace, page by page.

use ff_backend::Result;
use ff_backend::budget::{BudgetAnswer as Answer, BudgetCall as Call, BudgetReply};
use ff_core::command::budget::BudgetView;
use ff_core::id::BudgetId;
use ff_core::limits::PAGE_MAX;
use ff_core::machine::budget;
use ff_core::partition::Family;

use super::{BUDGETS, Numbered};
use crate::limit::Listed;
use crate::shared::Shared;

impl Shared {
    /// Answers a listing.
    pub(super) async fn list_budgets(&self, number: usize, call: Call) -> Numbered {
        let Call::List {
            namespace,
            after,
            limit,
        } = call
        else {
            unreachable!("only a listing is about all budgets");
        };
        let listed = Listed {
            family: Family::Budget,
            set: BUDGETS,
            namespace: &namespace,
            after,
        };
        (number, self.page_of_budgets(&listed, limit.clamp(1, PAGE_MAX)).await)
    }

    async fn page_of_budgets(&self, listed: &Listed<'_, BudgetId>, limit: usize) -> Result<BudgetReply> {
        let mut ids = self.listed(listed, limit + 1).await?;
        let more = ids.len() > limit;
        ids.truncate(limit);
        let next = ids.last().copied().filter(|_| more);
        let found = self.read_budgets(ids.into_iter()).await?;
        let now = match found.iter().map(|found| found.now).min() {
            Some(now) => now,
            None => self.ping().await?,
        };
        // One that was deleted since its id was read is listed no more.
        let listed = found
            .iter()
            .filter_map(|found| Some((found.budget.as_ref()?, found.now)));
        let listed = listed.filter(|(budget, _)| budget.deleted_at.is_none());
        let mut budgets: Vec<BudgetView> = listed.map(|(budget, now)| budget::view(budget, now)).collect();
        budgets.sort_unstable_by_key(|budget| budget.budget_id);
        let answer = Ok(Answer::Page { budgets, next });
        Ok(BudgetReply { now, answer })
    }
}
