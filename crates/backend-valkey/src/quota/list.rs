//! The quota policies of a namespace, page by page.

use ff_backend::Result;
use ff_backend::quota::{QuotaAnswer as Answer, QuotaCall as Call, QuotaReply};
use ff_core::command::quota::QuotaPolicyView;
use ff_core::id::QuotaPolicyId;
use ff_core::limits::PAGE_MAX;
use ff_core::partition::Family;

use super::{Numbered, QUOTAS};
use crate::limit::Listed;
use crate::shared::Shared;

impl Shared {
    /// Answers a listing.
    pub(super) async fn list_quotas(&self, number: usize, call: Call) -> Numbered {
        let Call::List {
            namespace,
            after,
            limit,
        } = call
        else {
            unreachable!("only a listing is about all policies");
        };
        let listed = Listed {
            family: Family::Quota,
            set: QUOTAS,
            namespace: &namespace,
            after,
        };
        (number, self.page_of_quotas(&listed, limit.clamp(1, PAGE_MAX)).await)
    }

    async fn page_of_quotas(&self, listed: &Listed<'_, QuotaPolicyId>, limit: usize) -> Result<QuotaReply> {
        let mut ids = self.listed(listed, limit + 1).await?;
        let more = ids.len() > limit;
        ids.truncate(limit);
        let next = ids.last().copied().filter(|_| more);
        let found = self.read_quotas(ids.into_iter()).await?;
        let now = match found.iter().map(|found| found.now).min() {
            Some(now) => now,
            None => self.ping().await?,
        };
        // One that was deleted since its id was read is listed no more.
        let listed = found.iter().filter_map(|found| Some((found, found.policy.as_ref()?)));
        let listed = listed.filter(|(_, policy)| policy.deleted_at.is_none());
        let mut policies: Vec<QuotaPolicyView> = listed
            .map(|(found, policy)| found.taken.view(policy, found.now))
            .collect();
        policies.sort_unstable_by_key(|policy| policy.quota_policy_id);
        let answer = Ok(Answer::Page { policies, next });
        Ok(QuotaReply { now, answer })
    }
}
