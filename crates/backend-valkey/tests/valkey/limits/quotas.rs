//! Random batches about a few quota policies.

use std::collections::BTreeMap;

use ff_backend::Backend;
use ff_backend::due::DueKey;
use ff_backend::quota::{QuotaAnswer as Answer, QuotaCall as Call};
use ff_backend_valkey::ValkeyBackend;
use ff_core::command::quota::{CreateQuotaPolicy, LimitChange, UpdateQuotaPolicy};
use ff_core::error::Rejection;
use ff_core::id::{ExecutionId, GrantId, QuotaPolicyId};
use ff_core::machine::quota::{self, Admit, Quota};
use ff_core::name::Namespace;
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use super::{Random, due_now};

const BATCHES: u64 = 150;

type Model = BTreeMap<QuotaPolicyId, Option<Quota>>;

pub(super) async fn follow_the_rules(backend: &ValkeyBackend) {
    for seed in 1..=4 {
        let mut random = Random(seed << 20);
        let mut model = Model::new();
        let ids: Vec<QuotaPolicyId> = (0..3)
            .map(|n| QuotaPolicyId::from_uuid(Uuid::from_u64_pair(seed, n)))
            .collect();
        for batch in 0..BATCHES {
            let calls = (0..=random.below(12))
                .map(|_| random_call(&model, &ids, &mut random))
                .collect();
            ask(backend, &mut model, calls, &format!("seed {seed}, batch {batch}")).await;
            backend.advance_clock(Duration::from_millis(random.below(1_500)));
        }
    }
}

/// More places stop counting at once than one step removes, and then the window becomes longer.
pub(super) async fn forget_many_places(backend: &ValkeyBackend) {
    let mut model = Model::new();
    let id = QuotaPolicyId::from_uuid(Uuid::from_u128(1));
    let command = CreateQuotaPolicy {
        max_requests_per_window: Some(2_000),
        max_concurrent: None,
        window: Duration::from_secs(10),
        ..random_definition(&mut Random(1))
    };
    let update = |seconds| Call::Update {
        quota_policy_id: id,
        command: UpdateQuotaPolicy {
            window: Some(Duration::from_secs(seconds)),
            max_requests_per_window: LimitChange::Set(1_100),
            ..UpdateQuotaPolicy::default()
        },
    };
    let create = Call::Create {
        quota_policy_id: id,
        command,
    };
    let mark = Call::MarkBlocked {
        quota_policy_id: id,
        partition: Partition::flow(3),
        continues: false,
    };
    ask(backend, &mut model, vec![(id, create), (id, mark)], "create").await;
    for wave in 0..3 {
        let admit = |n: u64| admit(id, 500 * wave + n);
        ask(backend, &mut model, (0..500).map(|n| (id, admit(n))).collect(), "fill").await;
        backend.advance_clock(Duration::from_secs(4));
    }
    for n in 0..20 {
        let asked = vec![
            (id, admit(id, 10_000 + n)),
            (id, Call::Get(id)),
            (id, Call::Headroom(id)),
        ];
        ask(backend, &mut model, asked, &format!("use {n}")).await;
        let seconds = if n % 2 == 0 { 60 } else { 5 };
        ask(
            backend,
            &mut model,
            vec![(id, update(seconds)), (id, Call::Get(id))],
            "change",
        )
        .await;
        backend.advance_clock(Duration::from_millis(500));
    }
}

/// Work is refused once more after a slot was freed: what a release begun before then forgets is not that.
pub(super) async fn refuse_twice(backend: &ValkeyBackend) {
    let mut model = Model::new();
    let id = QuotaPolicyId::from_uuid(Uuid::from_u128(1));
    let command = CreateQuotaPolicy {
        max_requests_per_window: None,
        max_concurrent: Some(1),
        ..random_definition(&mut Random(1))
    };
    let create = Call::Create {
        quota_policy_id: id,
        command,
    };
    let release = |number| Call::Release {
        quota_policy_id: id,
        grant_id: grant(number),
    };
    let forget = Call::ForgetBlocked {
        quota_policy_id: id,
        partition: Partition::flow(3),
        round: 2,
    };
    let again = [admit(id, 1), admit(id, 2), release(1), admit(id, 3), admit(id, 2)];
    let calls = [create]
        .into_iter()
        .chain(again)
        .chain([forget, release(3), Call::Advance(id)]);
    for call in calls {
        ask(backend, &mut model, vec![(id, call)], "refused twice").await;
    }
    let blocked = |quota: &Quota| quota.policy.blocked_in.partitions().count();
    assert_eq!(model[&id].as_ref().map(blocked), Some(1), "the second mark stays");
}

async fn ask(backend: &ValkeyBackend, model: &mut Model, calls: Vec<(QuotaPolicyId, Call)>, context: &str) {
    let replies = backend
        .quota(calls.iter().map(|(_, call)| call.clone()).collect())
        .await;
    for ((id, call), reply) in calls.iter().zip(replies) {
        let reply = reply.unwrap();
        let wanted = answer(model.entry(*id).or_default(), *id, call, reply.now);
        assert_eq!(reply.answer, wanted, "{context}: {call:?}");
    }
    for (id, quota) in model {
        let (now, due) = due_now(backend, PartitionCounts::default().of_quota(*id), DueKey::Quota(*id)).await;
        let wanted = quota.as_ref().and_then(quota::due_at);
        assert_eq!(due, wanted.filter(|at| at.has_come(now)), "{context}: {calls:?}");
    }
}

fn answer(slot: &mut Option<Quota>, id: QuotaPolicyId, call: &Call, now: Timestamp) -> Result<Answer, Rejection> {
    if let Call::Create { command, .. } = call {
        return quota::create(slot, id, command, now).map(Answer::Created);
    }
    let quota = slot.as_mut().ok_or_else(|| quota::not_found(id))?;
    match call {
        Call::Get(_) => return Ok(Answer::Policy(Box::new(quota::view(quota, now)))),
        Call::Headroom(_) => return Ok(Answer::Headroom(quota::headroom(quota, now))),
        Call::Update { command, .. } => return quota::update(quota, command, now).map(Answer::Updated),
        Call::Delete(_) => return Ok(Answer::Deleted(quota::delete(quota, now))),
        Call::Advance(_) => return Ok(Answer::Work(quota::advance(quota, now))),
        Call::Admit { ask, .. } => return Ok(Answer::Admission(quota::admit(quota, ask, now))),
        Call::Release { grant_id, .. } => return Ok(Answer::Released(quota::release(quota, *grant_id, now))),
        Call::SlotsToCheck { after, limit, .. } => {
            return Ok(Answer::Slots(quota::slots_to_check(quota, *after, *limit, now)));
        }
        Call::MarkBlocked {
            partition, continues, ..
        } => quota::mark_blocked(&mut quota.policy, *partition, *continues),
        Call::ForgetBlocked { partition, round, .. } => {
            quota::forget_blocked(&mut quota.policy, *partition, *round);
        }
        Call::ForgetContinuing { partition, round, .. } => {
            quota::forget_continuing(&mut quota.policy, *partition, *round);
        }
        other => panic!("{other:?} is not part of this model"),
    }
    Ok(Answer::Done)
}

fn random_call(model: &Model, ids: &[QuotaPolicyId], random: &mut Random) -> (QuotaPolicyId, Call) {
    let quota_policy_id = random.pick(ids);
    let partition = Partition::flow(random.small(3));
    let known = model.get(&quota_policy_id).and_then(Option::as_ref);
    let generation = known.map_or(0, |quota| quota.policy.generation);
    let round = (generation + 1).saturating_sub(random.below(3));
    let call = match random.below(26) {
        0 | 1 => Call::Create {
            quota_policy_id,
            command: random_definition(random),
        },
        2 | 3 => Call::Get(quota_policy_id),
        4 => Call::Update {
            quota_policy_id,
            command: random_change(random),
        },
        5 if random.below(40) == 0 => Call::Delete(quota_policy_id),
        6 => Call::SlotsToCheck {
            quota_policy_id,
            after: (random.below(2) == 0).then(|| grant(random.below(12))),
            limit: 3,
        },
        7 => Call::Headroom(quota_policy_id),
        8 | 9 => Call::Advance(quota_policy_id),
        10 => Call::MarkBlocked {
            quota_policy_id,
            partition,
            continues: random.below(3) == 0,
        },
        11 => Call::ForgetBlocked {
            quota_policy_id,
            partition,
            round,
        },
        12 => Call::ForgetContinuing {
            quota_policy_id,
            partition,
            round,
        },
        13..18 => Call::Release {
            quota_policy_id,
            grant_id: grant(random.below(12)),
        },
        _ => Call::Admit {
            quota_policy_id,
            ask: Admit {
                grant_id: grant(random.below(12)),
                execution_id: ExecutionId::new(partition.index, Uuid::from_u128(random.below(6).into())),
                attempt_index: u32::from(random.small(3)),
                continues: random.below(3) == 0,
                dice: random.next(),
            },
        },
    };
    (quota_policy_id, call)
}

fn admit(quota_policy_id: QuotaPolicyId, number: u64) -> Call {
    Call::Admit {
        quota_policy_id,
        ask: Admit {
            grant_id: grant(number),
            execution_id: ExecutionId::new(3, Uuid::from_u128(u128::from(number))),
            attempt_index: 0,
            continues: false,
            dice: number,
        },
    }
}

fn grant(number: u64) -> GrantId {
    GrantId::from_uuid(Uuid::from_u128(1_000 + u128::from(number)))
}

fn random_definition(random: &mut Random) -> CreateQuotaPolicy {
    let limit = |random: &mut Random| (random.below(4) > 0).then(|| random.below(5));
    CreateQuotaPolicy {
        quota_policy_id: None,
        namespace: Namespace::default_namespace(),
        window: Duration::from_secs(1 + random.below(10)),
        max_requests_per_window: limit(random),
        max_concurrent: limit(random),
        jitter: Duration::from_millis(500 * random.below(2)),
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
