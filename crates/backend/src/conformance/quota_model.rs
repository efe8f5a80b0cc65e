//! Random calls about quotas answer what [`ff_core::machine::quota`] says, at the time the store answers.

use ff_core::command::quota::{CreateQuotaPolicy, LimitChange, UpdateQuotaPolicy};
use ff_core::error::{Code, Rejection};
use ff_core::id::{ExecutionId, GrantId, QuotaPolicyId};
use ff_core::machine::quota::{self, Admit, Quota};
use ff_core::partition::Partition;
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use super::build::{Random, Store};
use super::quotas::{call, definition};
use crate::due::DueKey;
use crate::quota::{QuotaAnswer, QuotaCall};

const SEEDS: u64 = 6;
const CALLS: u64 = 250;
/// Few grants and executions, so that calls meet.
const GRANTS: u64 = 12;

pub(super) async fn random_calls_answer_what_the_rules_say(store: &Store<'_>) {
    for seed in 0..SEEDS {
        let mut random = Random::new(seed << 44);
        let mut model = None;
        let id = QuotaPolicyId::from_uuid(store.uuid());
        for n in 0..CALLS {
            let asked = random_call(model.as_ref(), id, &mut random);
            let reply = call(store, asked.clone()).await;
            let wanted = answer(&mut model, &asked, reply.now);
            assert_eq!(code(reply.answer), code(wanted), "seed {seed}, call {n}: {asked:?}");
            due(store, model.as_ref(), id).await;
            if random.below(4) == 0 {
                store.advance(Duration::from_millis(random.below(4_000))).await;
            }
        }
    }
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

/// What is due, and what will be next, follows from the policy and what is taken of it alone.
async fn due(store: &Store<'_>, model: Option<&Quota>, id: QuotaPolicyId) {
    let page = store.due_in(&[store.counts().of_quota(id)], 100).await;
    let found = page
        .items
        .iter()
        .find(|item| item.key == DueKey::Quota(id))
        .map(|item| item.due_at);
    let wanted = model.and_then(quota::due_at);
    assert_eq!(found, wanted.filter(|at| at.has_come(page.now)));
    if let Some(later) = wanted.filter(|at| !at.has_come(page.now)) {
        assert!(
            page.next.is_some_and(|next| next <= later),
            "{page:?} should know {later}"
        );
    }
}

fn code<T>(answer: Result<T, Rejection>) -> Result<T, Code> {
    answer.map_err(|rejection| rejection.code)
}
