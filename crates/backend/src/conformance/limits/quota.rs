//! What is asked about quota policies, as data: so that calls can be drawn at random, and answered by the rules alone.

use ff_core::command::budget::{Deleted, Updated};
use ff_core::command::quota::{CreateQuotaPolicy, QuotaCreated, QuotaPolicyView, UpdateQuotaPolicy};
use ff_core::error::Rejection;
use ff_core::id::{GrantId, QuotaPolicyId};
use ff_core::ledger::{AccountKey, Hold};
use ff_core::machine::admission::{Headroom, Release};
use ff_core::machine::quota::judge::Slot;
use ff_core::machine::quota::{self, Admit, QuotaAdmission, SlotReleased};
use ff_core::partition::Partition;

use super::process::{Moments, Process};
use super::ruled;
use crate::limits::{self, Direct, Failed, quotas};

/// One call about one quota policy.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum QuotaCall {
    Create {
        quota_policy_id: QuotaPolicyId,
        command: CreateQuotaPolicy,
    },
    Get(QuotaPolicyId),
    Update {
        quota_policy_id: QuotaPolicyId,
        command: UpdateQuotaPolicy,
    },
    Delete(QuotaPolicyId),
    Admit {
        quota_policy_id: QuotaPolicyId,
        ask: Admit,
    },
    Release {
        quota_policy_id: QuotaPolicyId,
        grant_id: GrantId,
    },
    SlotsToCheck {
        quota_policy_id: QuotaPolicyId,
        after: Option<GrantId>,
        limit: usize,
    },
    Headroom(QuotaPolicyId),
    Advance(QuotaPolicyId),
    MarkBlocked {
        quota_policy_id: QuotaPolicyId,
        partition: Partition,
        continues: bool,
    },
    ForgetBlocked {
        quota_policy_id: QuotaPolicyId,
        partition: Partition,
        round: u64,
    },
    ForgetContinuing {
        quota_policy_id: QuotaPolicyId,
        partition: Partition,
        round: u64,
    },
}

/// The answer to one call, and the time by which it was decided.
#[derive(Clone, Debug)]
pub(super) struct QuotaReply {
    pub(super) at: Moments,
    pub(super) answer: Result<QuotaAnswer, Rejection>,
}

/// What a call that was not refused came to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum QuotaAnswer {
    Created(QuotaCreated),
    Policy(Box<QuotaPolicyView>),
    Updated(Updated),
    Deleted(Deleted),
    Admission(QuotaAdmission),
    Released(SlotReleased),
    Slots(Vec<(GrantId, Slot)>),
    Headroom(Headroom),
    Work(Option<Release>),
    Done,
}

/// Asks through the accounts.
pub(super) async fn ask(process: &Process, call: QuotaCall) -> QuotaReply {
    process.moments();
    let answer = ruled(answer(&process.direct, call).await);
    QuotaReply {
        at: process.moments(),
        answer,
    }
}

async fn answer(direct: &Direct, call: QuotaCall) -> Result<QuotaAnswer, Failed> {
    let account = |id: QuotaPolicyId| AccountKey::Quota(id);
    Ok(match call {
        QuotaCall::Create {
            quota_policy_id: id,
            command,
        } => QuotaAnswer::Created(quotas::create(direct, id, &command).await?),
        QuotaCall::Get(id) => {
            let found = quotas::find(direct, id).await?;
            QuotaAnswer::Policy(Box::new(found.ok_or_else(|| quota::not_found(id))?))
        }
        QuotaCall::Update {
            quota_policy_id: id,
            command,
        } => QuotaAnswer::Updated(quotas::update(direct, id, &command).await?),
        QuotaCall::Delete(id) => QuotaAnswer::Deleted(quotas::delete(direct, id).await?),
        QuotaCall::Admit {
            quota_policy_id: id,
            ask,
        } => QuotaAnswer::Admission(quotas::admit(direct, id, &ask).await?),
        QuotaCall::Release {
            quota_policy_id: id,
            grant_id,
        } => QuotaAnswer::Released(quotas::release(direct, id, grant_id).await?),
        QuotaCall::SlotsToCheck {
            quota_policy_id: id,
            after,
            limit,
        } => {
            let holds = quotas::old_slots(direct, id, after, limit).await?.into_iter();
            let slot = |hold: Hold| Slot {
                execution_id: hold.holder,
                taken_at: hold.taken_at,
            };
            QuotaAnswer::Slots(holds.map(|hold| (hold.grant, slot(hold))).collect())
        }
        QuotaCall::Headroom(id) => {
            let room = quotas::headroom(direct, id).await?;
            QuotaAnswer::Headroom(room.ok_or_else(|| quota::not_found(id))?)
        }
        QuotaCall::Advance(id) => QuotaAnswer::Work(quotas::advance(direct, id).await?),
        QuotaCall::MarkBlocked {
            quota_policy_id: id,
            partition,
            continues,
        } => {
            limits::mark(direct, account(id), [(partition, continues)]).await?;
            QuotaAnswer::Done
        }
        QuotaCall::ForgetBlocked {
            quota_policy_id: id,
            partition,
            round,
        } => {
            limits::forget(direct, account(id), round, [(partition, false)]).await?;
            QuotaAnswer::Done
        }
        QuotaCall::ForgetContinuing {
            quota_policy_id: id,
            partition,
            round,
        } => {
            limits::forget(direct, account(id), round, [(partition, true)]).await?;
            QuotaAnswer::Done
        }
    })
}
