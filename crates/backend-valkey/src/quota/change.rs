//! What the rules make of a quota policy, written if it is still the one that was read.

use ff_backend::Result;
use ff_backend::quota::{QuotaAnswer as Answer, QuotaCall as Call, QuotaReply};
use ff_core::error::Rejection;
use ff_core::id::QuotaPolicyId;
use ff_core::machine::quota::{self, Quota};
use ff_core::record::QuotaPolicy;
use ff_core::time::Timestamp;
use redis::Value;

use super::fields::encode;
use super::state::{Found, bare};
use super::{Numbered, QUOTAS};
use crate::error::corrupt;
use crate::library::Function;
use crate::limit::{Fields, Put, TRIES_MAX, contended, member, pause};
use crate::shared::Shared;

/// What a call came to by the rules.
type Answered = std::result::Result<Answer, Rejection>;

impl Shared {
    /// Answers calls about one policy, one after the other, in one step.
    pub(super) async fn change_quota(&self, id: QuotaPolicyId, calls: Vec<(usize, Call)>) -> Vec<Numbered> {
        let (numbers, calls): (Vec<usize>, Vec<Call>) = calls.into_iter().unzip();
        match self.work_out_quota(id, &calls).await {
            Ok((now, answers)) => {
                let replies = answers.into_iter().map(|answer| Ok(QuotaReply { now, answer }));
                numbers.into_iter().zip(replies).collect()
            }
            Err(error) => numbers.into_iter().map(|number| (number, Err(error.clone()))).collect(),
        }
    }

    async fn work_out_quota(&self, id: QuotaPolicyId, calls: &[Call]) -> Result<(Timestamp, Vec<Answered>)> {
        let mut found = self
            .read_quotas([id].into_iter())
            .await?
            .pop()
            .ok_or_else(|| corrupt("no answer"))?;
        for tries in 0..TRIES_MAX {
            let mut slot = found.policy.clone();
            let answers = calls.iter().map(|call| answer(&found, &mut slot, id, call)).collect();
            let Some(after) = slot.filter(|after| found.policy.as_ref() != Some(after)) else {
                return Ok((found.now, answers));
            };
            match self.put_quota(&found, &after).await? {
                None => return Ok((found.now, answers)),
                Some(other) => found = other,
            }
            pause(tries).await;
        }
        Err(contended(&format!("quota policy {id}")))
    }

    /// Writes a policy that changed; answers the one that is there if it has another revision.
    async fn put_quota(&self, found: &Found, after: &QuotaPolicy) -> Result<Option<Found>> {
        let put = Put {
            function: Function::PutQuota,
            partition: self.counts.of_quota(after.id),
            name: format!("quota:{}", after.id),
            revision: &found.revision,
            before: found.policy.as_ref().map_or_else(Fields::default, encode),
            after: encode(after),
            set: QUOTAS,
            member: member(&after.namespace, after.id),
        };
        let reply = self.put_limit(put).await?;
        match reply.answer {
            Value::Nil => Ok(None),
            other => Found::parse(after.id, other, reply.now).map(Some),
        }
    }
}

fn answer(found: &Found, slot: &mut Option<QuotaPolicy>, id: QuotaPolicyId, call: &Call) -> Answered {
    let now = found.now;
    if let Call::Create { command, .. } = call {
        let mut quota = slot.take().map(bare);
        let created = quota::create(&mut quota, id, command, now);
        *slot = quota.map(|quota| quota.policy);
        return created.map(Answer::Created);
    }
    let policy = slot.as_mut().ok_or_else(|| quota::not_found(id))?;
    match call {
        Call::Get(_) => Ok(Answer::Policy(Box::new(found.taken.view(policy, now)))),
        Call::Headroom(_) => Ok(Answer::Headroom(found.taken.headroom(policy))),
        Call::Update { command, .. } => {
            changed(policy, |quota| quota::update(quota, command, now)).map(Answer::Updated)
        }
        Call::Delete(_) => Ok(Answer::Deleted(changed(policy, |quota| quota::delete(quota, now)))),
        Call::Advance(_) => {
            let (outlook, places) = (&found.taken.outlook, found.taken.places);
            Ok(Answer::Work(quota::release_when_due(policy, outlook, places, now)))
        }
        other => {
            mark(policy, other);
            Ok(Answer::Done)
        }
    }
}

/// Applies a function that looks at nothing that is taken of the policy.
fn changed<T>(policy: &mut QuotaPolicy, change: impl FnOnce(&mut Quota) -> T) -> T {
    let mut quota = bare(policy.clone());
    let outcome = change(&mut quota);
    *policy = quota.policy;
    outcome
}

/// The calls that answer nothing.
fn mark(policy: &mut QuotaPolicy, call: &Call) {
    match call {
        Call::MarkBlocked {
            partition, continues, ..
        } => quota::mark_blocked(policy, *partition, *continues),
        Call::ForgetBlocked { partition, round, .. } => quota::forget_blocked(policy, *partition, *round),
        Call::ForgetContinuing { partition, round, .. } => quota::forget_continuing(policy, *partition, *round),
        other => unreachable!("{other:?} is not answered by the rules"),
    }
}
