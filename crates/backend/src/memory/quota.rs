//! Quota policies: each call is the function of the same name in [`ff_core::machine::quota`].

use std::ops::Bound;

use ff_core::command::quota::{CreateQuotaPolicy, QuotaPolicyView};
use ff_core::error::Rejection;
use ff_core::id::{GrantId, QuotaPolicyId};
use ff_core::limits::PAGE_MAX;
use ff_core::machine::quota::{self, Admit, Quota, QuotaAdmission};
use ff_core::name::Namespace;
use ff_core::record::Cause;
use ff_core::time::Timestamp;

use super::flaw::Flaw;
use super::store::Store;
use crate::due::DueKey;
use crate::quota::{QuotaAnswer as Answer, QuotaCall as Call, QuotaReply};

impl Store {
    /// One atomic step of a quota policy.
    pub(super) fn quota(&mut self, call: Call) -> QuotaReply {
        let now = self.now;
        QuotaReply {
            now,
            answer: self.answer_quota(call, now),
        }
    }

    fn answer_quota(&mut self, call: Call, now: Timestamp) -> Result<Answer, Rejection> {
        match call {
            Call::Create {
                quota_policy_id,
                command,
            } => self.create_quota(quota_policy_id, &command),
            Call::Get(id) => self.change_quota(id, |quota| Ok(Answer::Policy(Box::new(quota::view(quota, now))))),
            Call::Update {
                quota_policy_id,
                command,
            } => self.change_quota(quota_policy_id, |quota| {
                quota::update(quota, &command, now).map(Answer::Updated)
            }),
            Call::Delete(id) => self.change_quota(id, |quota| Ok(Answer::Deleted(quota::delete(quota, now)))),
            Call::List {
                namespace,
                after,
                limit,
            } => Ok(self.list_quotas(&namespace, after, limit)),
            Call::Admit { quota_policy_id, ask } => self.admit(quota_policy_id, &ask),
            Call::Release {
                quota_policy_id,
                grant_id,
            } => self.release_slot(quota_policy_id, grant_id),
            Call::SlotsToCheck {
                quota_policy_id,
                after,
                limit,
            } => self.change_quota(quota_policy_id, |quota| {
                Ok(Answer::Slots(quota::slots_to_check(
                    quota,
                    after,
                    limit.clamp(1, PAGE_MAX),
                    now,
                )))
            }),
            Call::Headroom(id) => self.change_quota(id, |quota| Ok(Answer::Headroom(quota::headroom(quota, now)))),
            Call::Advance(id) => self.change_quota(id, |quota| Ok(Answer::Work(quota::advance(quota, now)))),
            Call::MarkBlocked {
                quota_policy_id,
                partition,
                continues,
            } => self.change_quota(quota_policy_id, |quota| {
                quota::mark_blocked(&mut quota.policy, partition, continues);
                Ok(Answer::Done)
            }),
            Call::ForgetBlocked {
                quota_policy_id,
                partition,
                round,
            } => self.change_quota(quota_policy_id, |quota| {
                quota::forget_blocked(&mut quota.policy, partition, round);
                Ok(Answer::Done)
            }),
            Call::ForgetContinuing {
                quota_policy_id,
                partition,
                round,
            } => self.change_quota(quota_policy_id, |quota| {
                quota::forget_continuing(&mut quota.policy, partition, round);
                Ok(Answer::Done)
            }),
        }
    }

    fn create_quota(&mut self, id: QuotaPolicyId, command: &CreateQuotaPolicy) -> Result<Answer, Rejection> {
        let mut slot = self.quotas.remove(&id);
        let created = quota::create(&mut slot, id, command, self.now);
        self.quotas.extend(slot.map(|quota| (id, quota)));
        created.map(Answer::Created)
    }

    /// Changes a quota; whatever that does to its timer and generation is known to others afterwards.
    fn change_quota(
        &mut self,
        id: QuotaPolicyId,
        change: impl FnOnce(&mut Quota) -> Result<Answer, Rejection>,
    ) -> Result<Answer, Rejection> {
        let quota = self.quotas.get_mut(&id).ok_or_else(|| quota::not_found(id))?;
        let generation = quota.policy.generation;
        let answer = change(quota);
        let due_at = quota::due_at(quota);
        if quota.policy.generation != generation {
            self.hint_cause(Cause::Quota(id));
        }
        if !self.flawed(Flaw::QuotaForgetsDue) {
            self.schedule(self.counts.of_quota(id), DueKey::Quota(id), due_at);
        }
        answer
    }

    fn admit(&mut self, id: QuotaPolicyId, ask: &Admit) -> Result<Answer, Rejection> {
        let now = self.now;
        if self.flawed(Flaw::QuotaAdmitsEverybody) {
            return self.change_quota(id, |_| Ok(Answer::Admission(QuotaAdmission::Admitted)));
        }
        self.change_quota(id, |quota| Ok(Answer::Admission(quota::admit(quota, ask, now))))
    }

    fn release_slot(&mut self, id: QuotaPolicyId, grant_id: GrantId) -> Result<Answer, Rejection> {
        let now = self.now;
        let forgetful = self.flawed(Flaw::QuotaForgetsReleases);
        self.change_quota(id, |quota| {
            let before = quota.usage.tombstones.clone();
            let released = quota::release(quota, grant_id, now);
            if forgetful {
                quota.usage.tombstones = before;
            }
            Ok(Answer::Released(released))
        })
    }

    fn list_quotas(&self, namespace: &Namespace, after: Option<QuotaPolicyId>, limit: usize) -> Answer {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let listed = |quota: &&Quota| quota.policy.namespace == *namespace && quota.policy.deleted_at.is_none();
        let mut rest = self
            .quotas
            .range((from, Bound::Unbounded))
            .map(|(_, quota)| quota)
            .filter(listed);
        let view = |quota: &Quota| quota::view(quota, self.now);
        let policies: Vec<QuotaPolicyView> = rest.by_ref().take(limit.clamp(1, PAGE_MAX)).map(view).collect();
        let more = rest.next().is_some();
        let next = policies.last().map(|last| last.quota_policy_id).filter(|_| more);
        Answer::Page { policies, next }
    }
}
