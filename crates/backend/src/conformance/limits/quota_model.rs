//! Random calls about quotas answer what [`ff_core::machine::quota`] says, at the time the store answers.

use ff_core::command::quota::{CreateQuotaPolicy, LimitChange, UpdateQuotaPolicy};
use ff_core::error::{Code, Rejection};
use ff_core::id::{ExecutionId, GrantId, QuotaPolicyId};
use ff_core::ledger::AccountKey;
use ff_core::machine::quota::judge::{self as quota, Quota};
use ff_core::machine::quota::{Admit, QuotaAdmission};
use ff_core::partition::Partition;
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use super::super::build::{Random, Store};
use super::is_looked_at;
use super::process::Process;
use super::quota::ask;
use super::quota::{QuotaAnswer, QuotaCall};
use super::quotas::definition;

const SEEDS: u64 = 20;
const CALLS: u64 = 250;
/// Few grants and executions, so that calls meet.
const GRANTS: u64 = 12;

/// Two processes ask, so that each finds what the other one changed. What differs from the rules is said beside it.
pub(in crate::conformance) async fn random_calls_answer_what_the_rules_say(store: &Store<'_>) {
    for seed in 0..SEEDS {
        let mut random = Random::new(seed << 44);
        let mut model = None;
        let id = QuotaPolicyId::from_uuid(store.uuid());
        let processes = [Process::new(store.backend()), Process::new(store.backend())];
        let mut looks = 0;
        for n in 0..CALLS {
            // A release promises what the look before it could not know of, so two in a row settle when the next one is due.
            let asked = match looks {
                1 => QuotaCall::Advance(id),
                _ => random_call(model.as_ref(), id, &mut random),
            };
            if drains(model.as_ref(), &asked) {
                continue;
            }
            let reply = ask(random.pick(&processes), asked.clone()).await;
            forget_what_has_stopped_counting(model.as_mut(), &asked, reply.at.last);
            let wanted = answer(&mut model, &asked, reply.at.last);
            if !knows_its_grant(model.as_ref(), &reply.answer) {
                assert_eq!(code(reply.answer), code(wanted), "seed {seed}, call {n}: {asked:?}");
            }
            let wanted = model.as_ref().and_then(quota::due_at);
            looks = if asked == QuotaCall::Advance(id) { looks + 1 } else { 0 };
            is_looked_at(store, AccountKey::Quota(id), wanted, looks > 1).await;
            if looks != 1 && random.below(4) == 0 {
                store.advance(Duration::from_millis(random.below(4_000))).await;
            }
        }
    }
}

/// A place that has stopped counting never counts again, also when nobody asked before the window grew.
pub(super) fn forget_what_has_stopped_counting(model: Option<&mut Quota>, asked: &QuotaCall, now: Timestamp) {
    if let (Some(quota), QuotaCall::Update { .. }) = (model, asked) {
        quota.usage.window.slide(quota.policy.window, now);
    }
}

/// Whoever does not know yet that a policy is deleted is told what its own grant came to.
fn knows_its_grant(model: Option<&Quota>, answer: &Result<QuotaAnswer, Rejection>) -> bool {
    let is_own =
        |admission: &QuotaAdmission| matches!(admission, QuotaAdmission::Late | QuotaAdmission::AlreadyAdmitted);
    let is_deleted = model.is_some_and(|quota| quota.policy.deleted_at.is_some());
    is_deleted && matches!(answer, Ok(QuotaAnswer::Admission(admission)) if is_own(admission))
}

/// What is held of a deleted policy goes with the leases that hold it; by the rules it was gone at once.
pub(super) fn drains(model: Option<&Quota>, asked: &QuotaCall) -> bool {
    let is_deleted = model.is_some_and(|quota| quota.policy.deleted_at.is_some());
    is_deleted && matches!(asked, QuotaCall::Release { .. } | QuotaCall::SlotsToCheck { .. })
}

pub(super) fn answer(model: &mut Option<Quota>, asked: &QuotaCall, now: Timestamp) -> Result<QuotaAnswer, Rejection> {
    if let QuotaCall::Create {
        quota_policy_id,
        command,
    } = asked
    {
        return quota::create(model, *quota_policy_id, command, now).map(QuotaAnswer::Created);
    }
    let Some(model) = model else {
        return Err(quota::not_found(QuotaPolicyId::from_uuid(Uuid::nil())));
    };
    Ok(match asked {
        QuotaCall::Get(_) => QuotaAnswer::Policy(Box::new(quota::view(model, now))),
        QuotaCall::Update { command, .. } => QuotaAnswer::Updated(quota::update(model, command, now)?),
        QuotaCall::Delete(_) => QuotaAnswer::Deleted(quota::delete(model, now)),
        QuotaCall::Admit { ask, .. } => QuotaAnswer::Admission(quota::admit(model, ask, now)),
        QuotaCall::Release { grant_id, .. } => QuotaAnswer::Released(quota::release(model, *grant_id, now)),
        QuotaCall::SlotsToCheck { after, limit, .. } => {
            QuotaAnswer::Slots(quota::slots_to_check(model, *after, *limit, now))
        }
        QuotaCall::Headroom(_) => QuotaAnswer::Headroom(quota::headroom(model, now)),
        QuotaCall::Advance(_) => QuotaAnswer::Work(quota::advance(model, now)),
        other => quietly(model, other),
    })
}

/// The calls that answer nothing.
fn quietly(model: &mut Quota, asked: &QuotaCall) -> QuotaAnswer {
    let policy = &mut model.policy;
    match asked {
        QuotaCall::MarkBlocked {
            partition, continues, ..
        } => quota::mark_blocked(policy, *partition, *continues),
        QuotaCall::ForgetBlocked { partition, round, .. } => quota::forget_blocked(policy, *partition, *round),
        QuotaCall::ForgetContinuing { partition, round, .. } => quota::forget_continuing(policy, *partition, *round),
        other => panic!("{other:?} is not part of this model"),
    }
    QuotaAnswer::Done
}

pub(super) fn random_call(model: Option<&Quota>, quota_policy_id: QuotaPolicyId, random: &mut Random) -> QuotaCall {
    let partition = Partition::flow(u16::try_from(random.below(3)).unwrap_or(0));
    let round = model
        .map_or(0, |quota| quota.policy.generation)
        .saturating_sub(random.below(2));
    let continues = random.below(3) == 0;
    match random.below(if model.is_some() { 24 } else { 2 }) {
        0 => QuotaCall::Create {
            quota_policy_id,
            command: random_definition(random),
        },
        1 | 2 => QuotaCall::Get(quota_policy_id),
        3 => QuotaCall::Update {
            quota_policy_id,
            command: random_change(random),
        },
        4 if random.below(25) == 0 => QuotaCall::Delete(quota_policy_id),
        5 => QuotaCall::SlotsToCheck {
            quota_policy_id,
            after: None,
            limit: 3,
        },
        6 => QuotaCall::Headroom(quota_policy_id),
        7 | 8 => QuotaCall::Advance(quota_policy_id),
        9 => QuotaCall::MarkBlocked {
            quota_policy_id,
            partition,
            continues,
        },
        10 => QuotaCall::ForgetBlocked {
            quota_policy_id,
            partition,
            round,
        },
        11 => QuotaCall::ForgetContinuing {
            quota_policy_id,
            partition,
            round,
        },
        12..17 => QuotaCall::Release {
            quota_policy_id,
            grant_id: grant(random),
        },
        _ => {
            let execution_id = ExecutionId::new(partition.index, Uuid::from_u128(u128::from(random.below(6))));
            let attempt_index = u32::try_from(random.below(3)).unwrap_or(0);
            let ask = Admit {
                grant_id: grant(random),
                execution_id,
                attempt_index,
                continues,
                dice: random.next(),
            };
            QuotaCall::Admit { quota_policy_id, ask }
        }
    }
}

fn grant(random: &mut Random) -> GrantId {
    GrantId::from_uuid(Uuid::from_u128(1_000 + u128::from(random.below(GRANTS))))
}

fn random_definition(random: &mut Random) -> CreateQuotaPolicy {
    let limit = |random: &mut Random| (random.below(4) > 0).then(|| random.below(5));
    CreateQuotaPolicy {
        window: Duration::from_secs(1 + random.below(10)),
        jitter: Duration::from_millis(random.below(2) * 500),
        ..definition(limit(random), limit(random))
    }
}

fn random_change(random: &mut Random) -> UpdateQuotaPolicy {
    let change = |random: &mut Random| match random.below(4) {
        0 => LimitChange::Remove,
        1 => LimitChange::Set(random.below(6)),
        _ => LimitChange::Keep,
    };
    UpdateQuotaPolicy {
        window: (random.below(3) == 0).then(|| Duration::from_secs(1 + random.below(10))),
        max_requests_per_window: change(random),
        max_concurrent: change(random),
        jitter: None,
    }
}

fn code<T>(answer: Result<T, Rejection>) -> Result<T, Code> {
    answer.map_err(|rejection| rejection.code)
}
