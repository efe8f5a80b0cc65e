//! Random calls about budgets answer what [`ff_core::machine::budget`] says, at the time the store answers.

use std::collections::BTreeMap;

use ff_core::command::budget::{BudgetView, CreateBudget, ResetBudget, UpdateLimits};
use ff_core::error::{Code, Rejection};
use ff_core::id::{BudgetId, EffectId};
use ff_core::ledger::AccountKey;
use ff_core::machine::budget::judge as budget;
use ff_core::machine::budget::{BudgetWork, UsageReport};
use ff_core::name::{Dimension, RequestId};
use ff_core::partition::Partition;
use ff_core::record::{Budget, Limits, OnHardLimit, UsageIdentity};
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use super::super::build::{Random, Store, key};
use super::budget::ask;
use super::budget::{BudgetAnswer, BudgetCall};
use super::budgets::{definition, tokens};
use super::process::{Moments, Process};
use super::{is_looked_at, ruled};
use crate::limits::budgets;

const SEEDS: u64 = 20;
const CALLS: u64 = 250;

/// The simplest store of budgets there is.
#[derive(Clone, Default)]
pub(super) struct Model {
    pub(super) budgets: BTreeMap<BudgetId, Budget>,
    seen: BTreeMap<(BudgetId, UsageIdentity), (Option<EffectId>, Timestamp)>,
}

/// Two processes ask, so that each finds what the other one changed. What differs from the rules is said beside it.
pub(in crate::conformance) async fn random_calls_answer_what_the_rules_say(store: &Store<'_>) {
    for seed in 0..SEEDS {
        let mut random = Random::new(seed << 40);
        let mut model = Model::default();
        let ids = [(); 2].map(|()| BudgetId::from_uuid(store.uuid()));
        let processes = [Process::new(store.backend()), Process::new(store.backend())];
        for n in 0..CALLS {
            let asked = random_call(&model, *random.pick(&ids), &mut random);
            let process = random.pick(&processes);
            let reply = ask(process, asked.clone()).await;
            model.settle_before(&asked, &reply.at);
            let wanted = model.answer(&asked, reply.at.last);
            let context = format!("seed {seed}, call {n}: {asked:?}");
            assert_eq!(comparable(reply.answer), comparable(wanted), "{context}");
            if let BudgetCall::Report { budget_id, .. } = asked {
                give_order(process, budget_id).await;
            }
            for id in ids {
                let wanted = model.budgets.get(&id).and_then(budget::due_at);
                is_looked_at(store, AccountKey::Budget(id), wanted, asked == BudgetCall::Advance(id)).await;
            }
            if random.below(5) == 0 {
                store.advance(Duration::from_millis(random.below(3_000))).await;
            }
        }
    }
}

/// An order to stop is written down by the next look; here that comes at once, as the rules would have it.
pub(super) async fn give_order(process: &Process, budget_id: BudgetId) {
    // A budget that is not there has nobody to stop.
    let _ = ruled(budgets::stopped(&process.direct, budget_id, Timestamp::default()).await);
}

/// By which generation an order to stop is known matters only to who gave it. Since when a budget is closed is what its last change
/// saw, and that did not see a report beside it.
pub(super) fn comparable(answer: Result<BudgetAnswer, Rejection>) -> Result<BudgetAnswer, Code> {
    match answer {
        Ok(BudgetAnswer::Work(work)) => Ok(BudgetAnswer::Work(BudgetWork {
            withdraw: work.withdraw.map(|_| 0),
            stop: work.stop.map(|stop| budget::Stop { generation: 0, ..stop }),
            release: work.release,
        })),
        Ok(BudgetAnswer::Budget(view)) => Ok(BudgetAnswer::Budget(Box::new(BudgetView {
            closed_since: None,
            ..*view
        }))),
        answer => answer.map_err(|rejection| rejection.code),
    }
}

impl Model {
    pub(super) fn answer(&mut self, asked: &BudgetCall, now: Timestamp) -> Result<BudgetAnswer, Rejection> {
        if let BudgetCall::Create { budget_id, command } = asked {
            let mut slot = self.budgets.remove(budget_id);
            let created = budget::create(&mut slot, *budget_id, command, now);
            self.budgets.extend(slot.map(|budget| (*budget_id, budget)));
            return created.map(BudgetAnswer::Created);
        }
        let id = about(asked);
        let budget = self.budgets.get_mut(&id).ok_or_else(|| budget::not_found(id))?;
        match asked {
            BudgetCall::Get(_) => Ok(BudgetAnswer::Budget(Box::new(budget::view(budget, now)))),
            BudgetCall::Update { command, .. } => {
                budget::update_limits(budget, command, now).map(BudgetAnswer::Updated)
            }
            BudgetCall::Reset { command, .. } => budget::reset(budget, command, now).map(BudgetAnswer::Reset),
            BudgetCall::Delete(_) => Ok(BudgetAnswer::Deleted(budget::delete(budget, now))),
            BudgetCall::Advance(_) => Ok(BudgetAnswer::Work(budget::advance(budget, now))),
            BudgetCall::Report { report, .. } => {
                let remembered = report
                    .names()
                    .filter_map(|(identity, _)| self.seen.get(&(id, identity)));
                let live = remembered.filter(|(_, until)| !until.has_come(now));
                let seen: Vec<Option<EffectId>> = live.map(|(effect_id, _)| *effect_id).collect();
                let reported = budget::report_usage(budget, report, &seen, now)?;
                let remember = reported.remember.into_iter();
                self.seen
                    .extend(remember.map(|it| ((id, it.identity), (it.effect_id, it.until))));
                Ok(BudgetAnswer::Reported(reported.outcome))
            }
            other => Ok(quietly(budget, other)),
        }
    }
}

impl Model {
    /// A reset that is due happens before a report, also before one that turns out to be a repetition; it takes a look.
    pub(super) fn settle_before(&mut self, asked: &BudgetCall, at: &Moments) {
        let BudgetCall::Report { budget_id, .. } = asked else {
            return;
        };
        for now in &at.readings {
            let there = self.budgets.get_mut(budget_id);
            if let Some(budget) = there.filter(|budget| budget.deleted_at.is_none())
                && let Some(settled) = budget::account::settled(budget, *now)
            {
                *budget = settled;
            }
        }
    }
}

/// The calls that answer nothing.
fn quietly(budget: &mut Budget, asked: &BudgetCall) -> BudgetAnswer {
    match asked {
        BudgetCall::Stopped { began_at, .. } => budget::stopped(budget, *began_at),
        BudgetCall::Withdrawn { generation, .. } => budget::withdrawn(budget, *generation),
        BudgetCall::MarkBlocked { partition, .. } => budget::mark_blocked(budget, *partition),
        BudgetCall::ForgetBlocked { partition, round, .. } => budget::forget_blocked(budget, *partition, *round),
        other => panic!("{other:?} is not part of this model"),
    }
    BudgetAnswer::Done
}

fn about(asked: &BudgetCall) -> BudgetId {
    match asked {
        BudgetCall::Get(id) | BudgetCall::Delete(id) | BudgetCall::Advance(id) => *id,
        BudgetCall::Create { budget_id, .. }
        | BudgetCall::Update { budget_id, .. }
        | BudgetCall::Report { budget_id, .. }
        | BudgetCall::Reset { budget_id, .. }
        | BudgetCall::Stopped { budget_id, .. }
        | BudgetCall::Withdrawn { budget_id, .. }
        | BudgetCall::MarkBlocked { budget_id, .. }
        | BudgetCall::ForgetBlocked { budget_id, .. } => *budget_id,
    }
}

pub(super) fn random_call(model: &Model, budget_id: BudgetId, random: &mut Random) -> BudgetCall {
    let partition = Partition::flow(u16::try_from(random.below(3)).unwrap_or(0));
    let known = model.budgets.get(&budget_id);
    match random.below(if known.is_some() { 17 } else { 2 }) {
        0 => BudgetCall::Create {
            budget_id,
            command: random_definition(random),
        },
        1 => BudgetCall::Get(budget_id),
        2 => {
            let hard = Some(random.below(60));
            let dimensions = BTreeMap::from([(tokens(), Limits { soft: None, hard })]);
            BudgetCall::Update {
                budget_id,
                command: UpdateLimits { dimensions },
            }
        }
        3 => {
            let request_id = RequestId::parse(format!("reset-{}", random.below(20))).ok();
            BudgetCall::Reset {
                budget_id,
                command: ResetBudget { request_id },
            }
        }
        4 if random.below(12) == 0 => BudgetCall::Delete(budget_id),
        5 | 6 => BudgetCall::Advance(budget_id),
        7 | 8 => BudgetCall::MarkBlocked { budget_id, partition },
        9 => {
            let round = known
                .map_or(0, |budget| budget.generation)
                .saturating_sub(random.below(2));
            BudgetCall::ForgetBlocked {
                budget_id,
                partition,
                round,
            }
        }
        10 => {
            let began_at = known
                .and_then(|budget| budget.stop)
                .map_or(Timestamp::default(), |stop| stop.since);
            BudgetCall::Stopped {
                budget_id,
                began_at: began_at + Duration::from_millis(random.below(120_000)),
            }
        }
        11 => BudgetCall::Withdrawn {
            budget_id,
            generation: known.map_or(0, |budget| budget.generation),
        },
        _ => BudgetCall::Report {
            budget_id,
            report: random_report(random),
        },
    }
}

fn random_definition(random: &mut Random) -> CreateBudget {
    let reset_interval = *random.pick(&[None, Some(Duration::from_secs(1)), Some(Duration::from_secs(7))]);
    let on_hard_limit = *random.pick(&[OnHardLimit::Block, OnHardLimit::CancelActive]);
    CreateBudget {
        reset_interval,
        on_hard_limit,
        ..definition(Some(20), Some(40))
    }
}

pub(super) fn random_report(random: &mut Random) -> UsageReport {
    let other = Dimension::parse("cents").expect("a dimension");
    let deltas = BTreeMap::from([(tokens(), random.below(15)), (other, random.below(3))]);
    let report = UsageReport {
        dedup_window: Duration::from_secs(4),
        ..UsageReport::new(deltas)
    };
    let effect = random.pick(&[None, Some(1), Some(2)]).map(Uuid::from_u128);
    let report = UsageReport {
        effect_id: effect.map(EffectId::from_uuid),
        ..report
    };
    match random.below(2) {
        0 => report,
        _ => report.identified_by(UsageIdentity::Key(key(&format!("report-{}", random.below(12))))),
    }
}
