//! Random batches about a few budgets.

use std::collections::BTreeMap;

use ff_backend::Backend;
use ff_backend::budget::{BudgetAnswer as Answer, BudgetCall as Call};
use ff_backend::due::DueKey;
use ff_backend_valkey::ValkeyBackend;
use ff_core::command::budget::{CreateBudget, ResetBudget, UpdateLimits};
use ff_core::error::Rejection;
use ff_core::id::{BudgetId, EffectId};
use ff_core::machine::budget;
use ff_core::machine::budget::UsageReport;
use ff_core::name::{Dimension, IdempotencyKey, Namespace};
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::record::{AMOUNT_MAX, Budget, DIMENSIONS_MAX, Limits, OnHardLimit, UsageIdentity};
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use super::{Random, due_now};

const BATCHES: u64 = 150;

/// The simplest store of budgets there is.
#[derive(Default)]
struct Model {
    budgets: BTreeMap<BudgetId, Option<Budget>>,
    seen: BTreeMap<(BudgetId, UsageIdentity), (Option<EffectId>, Timestamp)>,
}

pub(super) async fn follow_the_rules(backend: &ValkeyBackend) {
    for seed in 1..=4 {
        let mut random = Random(seed << 20);
        let mut model = Model::default();
        let ids: Vec<BudgetId> = (0..3)
            .map(|n| BudgetId::from_uuid(Uuid::from_u64_pair(seed, n)))
            .collect();
        for batch in 0..BATCHES {
            let calls: Vec<(BudgetId, Call)> = (0..=random.below(12))
                .map(|_| random_call(&model, &ids, &mut random))
                .collect();
            let replies = backend
                .budget(calls.iter().map(|(_, call)| call.clone()).collect())
                .await;
            for ((id, call), reply) in calls.iter().zip(replies) {
                let reply = reply.unwrap();
                assert_eq!(
                    reply.answer,
                    model.answer(*id, call, reply.now),
                    "seed {seed}, batch {batch}: {call:?} in {calls:?}"
                );
            }
            for id in &ids {
                let (now, due) = due_now(backend, PartitionCounts::default().of_budget(*id), DueKey::Budget(*id)).await;
                let wanted = model.budgets.get(id).and_then(Option::as_ref).and_then(budget::due_at);
                assert_eq!(
                    due,
                    wanted.filter(|at| at.has_come(now)),
                    "seed {seed}, batch {batch}: {calls:?}"
                );
            }
            backend.advance_clock(Duration::from_millis(random.below(1_500)));
        }
    }
}

impl Model {
    fn answer(&mut self, id: BudgetId, call: &Call, now: Timestamp) -> Result<Answer, Rejection> {
        let slot = self.budgets.entry(id).or_default();
        if let Call::Create { command, .. } = call {
            return budget::create(slot, id, command, now).map(Answer::Created);
        }
        let budget = slot.as_mut().ok_or_else(|| budget::not_found(id))?;
        match call {
            Call::Get(_) => return Ok(Answer::Budget(Box::new(budget::view(budget, now)))),
            Call::Update { command, .. } => return budget::update_limits(budget, command, now).map(Answer::Updated),
            Call::Reset { command, .. } => return budget::reset(budget, command, now).map(Answer::Reset),
            Call::Delete(_) => return Ok(Answer::Deleted(budget::delete(budget, now))),
            Call::Advance(_) => return Ok(Answer::Work(budget::advance(budget, now))),
            Call::Report { report, .. } => {
                let remembered = report
                    .names()
                    .filter_map(|(identity, _)| self.seen.get(&(id, identity)));
                let live = remembered.filter(|(_, until)| !until.has_come(now));
                let seen: Vec<Option<EffectId>> = live.map(|(effect_id, _)| *effect_id).collect();
                let reported = budget::report_usage(budget, report, &seen, now)?;
                let remember = reported.remember.into_iter();
                self.seen
                    .extend(remember.map(|it| ((id, it.identity), (it.effect_id, it.until))));
                return Ok(Answer::Reported(reported.outcome));
            }
            Call::MarkBlocked { partition, .. } => budget::mark_blocked(budget, *partition),
            Call::ForgetBlocked { partition, round, .. } => budget::forget_blocked(budget, *partition, *round),
            other => panic!("{other:?} is not part of this model"),
        }
        Ok(Answer::Done)
    }
}

fn random_call(model: &Model, ids: &[BudgetId], random: &mut Random) -> (BudgetId, Call) {
    let budget_id = random.pick(ids);
    let partition = Partition::flow(random.small(3));
    let known = model.budgets.get(&budget_id).and_then(Option::as_ref);
    let generation = known.map_or(0, |budget| budget.generation);
    let call = match random.below(20) {
        0 | 1 => Call::Create {
            budget_id,
            command: random_definition(random),
        },
        2..6 => Call::Get(budget_id),
        6 => {
            let (soft, hard) = (Some(random.below(20)), Some(20 + random.below(40)));
            let dimensions = BTreeMap::from([(dimension("tokens"), Limits { soft, hard })]);
            Call::Update {
                budget_id,
                command: UpdateLimits { dimensions },
            }
        }
        7 => Call::Reset {
            budget_id,
            command: ResetBudget::default(),
        },
        8 if random.below(40) == 0 => Call::Delete(budget_id),
        9 => Call::Advance(budget_id),
        10 | 11 => Call::MarkBlocked { budget_id, partition },
        12 => Call::ForgetBlocked {
            budget_id,
            partition,
            round: (generation + 1).saturating_sub(random.below(3)),
        },
        _ => Call::Report {
            budget_id,
            report: random_report(random),
        },
    };
    (budget_id, call)
}

fn random_definition(random: &mut Random) -> CreateBudget {
    let limits = Limits {
        soft: Some(20),
        hard: Some(40),
    };
    let dimensions = [("tokens", limits), ("unlimited", Limits::default())];
    CreateBudget {
        budget_id: None,
        namespace: Namespace::default_namespace(),
        scope: String::new(),
        dimensions: dimensions.map(|(name, limits)| (dimension(name), limits)).into(),
        reset_interval: random.pick(&[None, Some(Duration::from_secs(7))]),
        on_hard_limit: random.pick(&[OnHardLimit::Block, OnHardLimit::CancelActive]),
    }
}

/// Sometimes no report at all, sometimes more than a budget counts.
fn random_report(random: &mut Random) -> UsageReport {
    let mut deltas = BTreeMap::from([(dimension("tokens"), random.below(10)), (dimension("unlimited"), 1)]);
    match random.below(12) {
        0 => deltas.clear(),
        1 => {
            let invented = (0..DIMENSIONS_MAX).map(|_| dimension(&format!("invented-{}", random.below(80))));
            deltas = invented.map(|dimension| (dimension, AMOUNT_MAX - 1)).collect();
        }
        _ => {}
    }
    let report = UsageReport {
        dedup_window: Duration::from_secs(random.below(4)),
        ..UsageReport::new(deltas)
    };
    let report = UsageReport {
        effect_id: random.pick(&[None, Some(1), Some(2)]).map(effect),
        ..report
    };
    match random.below(2) {
        0 => report,
        _ => {
            let key = IdempotencyKey::parse(format!("report-{}", random.below(12))).unwrap();
            report.identified_by(UsageIdentity::Key(key))
        }
    }
}

fn effect(number: u128) -> EffectId {
    EffectId::from_uuid(Uuid::from_u128(number))
}

fn dimension(name: &str) -> Dimension {
    Dimension::parse(name).unwrap()
}
