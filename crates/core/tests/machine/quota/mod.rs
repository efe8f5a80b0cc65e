//! Quota policies: slots, places in the window, late grants, and what waits for room.

mod define;
mod release;
mod sequences;
mod slots;
mod window;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::support::{World, submission};
use ff_core::command::budget::{Deleted, Updated};
use ff_core::command::quota::{CreateQuotaPolicy, LimitChange, QuotaCreated, UpdateQuotaPolicy};
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::id::{ExecutionId, GrantId, QuotaPolicyId};
use ff_core::machine::admission::{Headroom, Verdict, judge_quota};
use ff_core::machine::claim::{self, HandOut};
use ff_core::machine::quota::judge::{self as quota, Quota};
use ff_core::machine::quota::{Admit, QuotaAdmission, SlotReleased, holds_slot};
use ff_core::machine::time;
use ff_core::name::Namespace;
use ff_core::partition::Partition;
use ff_core::policy::Policy;
use ff_core::record::{Cause, QuotaPolicy};
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

const ID: QuotaPolicyId = QuotaPolicyId::from_uuid(Uuid::from_u128(7));
const WINDOW: u64 = 10_000;

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn definition(rate: impl Into<Option<u64>>, cap: impl Into<Option<u64>>) -> CreateQuotaPolicy {
    CreateQuotaPolicy {
        quota_policy_id: None,
        namespace: Namespace::default_namespace(),
        window: Duration::from_millis(WINDOW),
        max_requests_per_window: rate.into(),
        max_concurrent: cap.into(),
        jitter: Duration::ZERO,
    }
}

fn created(command: &CreateQuotaPolicy) -> Quota {
    let mut slot = None;
    assert_eq!(quota::create(&mut slot, ID, command, at(0)), Ok(QuotaCreated::Created));
    slot.expect("a created policy")
}

fn with_rate(rate: u64) -> Quota {
    created(&definition(rate, None))
}

fn with_cap(cap: u64) -> Quota {
    created(&definition(None, cap))
}

fn grant(number: u128) -> GrantId {
    GrantId::from_uuid(Uuid::from_u128(number))
}

/// Grant `number` of the first attempt of execution `number`, which lives in partition `number`.
fn ask(number: u16) -> Admit {
    Admit {
        grant_id: grant(number.into()),
        execution_id: ExecutionId::new(number, Uuid::from_u128(number.into())),
        attempt_index: 0,
        continues: false,
        dice: 0,
    }
}

fn admit(quota: &mut Quota, number: u16, now: u64) -> QuotaAdmission {
    quota::admit(quota, &ask(number), at(now))
}

fn admit_all(quota: &mut Quota, numbers: RangeInclusive<u16>) {
    for number in numbers {
        admit(quota, number, 1);
    }
}

fn release(quota: &mut Quota, number: u16, now: u64) -> SlotReleased {
    quota::release(quota, grant(number.into()), at(now))
}

fn is_refused(answer: QuotaAdmission) -> bool {
    matches!(
        answer,
        QuotaAdmission::CapFull { .. } | QuotaAdmission::WindowFull { .. }
    )
}

fn update(quota: &mut Quota, command: UpdateQuotaPolicy, now: u64) -> Updated {
    quota::update(quota, &command, at(now)).expect("limits in order")
}

fn set_cap(cap: u64) -> UpdateQuotaPolicy {
    UpdateQuotaPolicy {
        max_concurrent: LimitChange::Set(cap),
        ..UpdateQuotaPolicy::default()
    }
}
