//! Quota policies. Admissions and releases are worked out by the library; everything else is the function of the same name in
//! [`ff_core::machine::quota`], between reading the fields and writing those that change.

mod admit;
mod change;
mod fields;
mod list;
mod slots;
mod state;

use ff_backend::Result;
use ff_backend::quota::{QuotaCall as Call, QuotaReply};
use ff_core::id::QuotaPolicyId;
use futures::future::{join, join_all};

use crate::limit::{Chain, Kind, waves};
use crate::shared::Shared;

/// The policies that are not deleted, by namespace.
const QUOTAS: &str = "quotas";

/// The reply to the call with this number.
type Numbered = (usize, Result<QuotaReply>);

impl Shared {
    /// Answers calls in order; those that need not wait for each other share calls of the library.
    pub(crate) async fn quota(&self, calls: Vec<Call>) -> Vec<Result<QuotaReply>> {
        let mut replies: Vec<Numbered> = Vec::with_capacity(calls.len());
        for wave in waves(calls, about) {
            replies.extend(self.quota_wave(wave).await);
        }
        replies.sort_unstable_by_key(|(number, _)| *number);
        replies.into_iter().map(|(_, reply)| reply).collect()
    }

    async fn quota_wave(&self, wave: Vec<Chain<QuotaPolicyId, Call>>) -> Vec<Numbered> {
        let (direct, others): (Vec<_>, Vec<_>) = wave.into_iter().partition(|chain| chain.kind.is_direct());
        let others = join_all(others.into_iter().map(|chain| self.quota_chain(chain)));
        let (mut replies, others) = join(self.use_quotas(direct), others).await;
        replies.extend(others.into_iter().flatten());
        replies
    }

    /// Answers what the library alone does not.
    async fn quota_chain(&self, chain: Chain<QuotaPolicyId, Call>) -> Vec<Numbered> {
        let Some(id) = chain.about else {
            return join_all(
                chain
                    .calls
                    .into_iter()
                    .map(|(number, call)| self.list_quotas(number, call)),
            )
            .await;
        };
        match chain.calls[..] {
            [(number, Call::SlotsToCheck { after, limit, .. })] => {
                vec![(number, self.slots_to_check(id, after, limit).await)]
            }
            _ => self.change_quota(id, chain.calls).await,
        }
    }
}

/// Which policy a call is about, and what it does to it.
fn about(call: &Call) -> (Option<QuotaPolicyId>, Kind) {
    match call {
        Call::Get(id) | Call::Headroom(id) => (Some(*id), Kind::Read),
        Call::Admit { quota_policy_id, .. } | Call::Release { quota_policy_id, .. } => {
            (Some(*quota_policy_id), Kind::Use)
        }
        Call::MarkBlocked { quota_policy_id, .. }
        | Call::ForgetBlocked { quota_policy_id, .. }
        | Call::ForgetContinuing { quota_policy_id, .. } => (Some(*quota_policy_id), Kind::Change),
        // What is taken counts differently after these, or is looked at in another way.
        Call::Create { quota_policy_id, .. }
        | Call::Update { quota_policy_id, .. }
        | Call::Delete(quota_policy_id)
        | Call::Advance(quota_policy_id)
        | Call::SlotsToCheck { quota_policy_id, .. } => (Some(*quota_policy_id), Kind::Alone),
        Call::List { .. } => (None, Kind::Alone),
    }
}
