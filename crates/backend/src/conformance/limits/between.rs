//! What takes two calls, a reading and a change, while others report, ask and give back in between: everybody is answered as if
//! all had come one after the other, and so is what is left.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ff_core::command::budget::{ResetBudget, UpdateLimits};
use ff_core::error::{Code, Rejection};
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::ledger::{AccountKey, LedgerAnswer, LedgerCall, Read, ReadMeters};
use ff_core::machine::budget::account;
use ff_core::machine::quota::QuotaAdmission;
use ff_core::machine::quota::judge::Quota;
use ff_core::record::Limits;
use ff_core::time::Duration;
use futures::future::{BoxFuture, join};
use tokio::sync::oneshot;

use super::super::build::{Random, Store};
use super::budget::{BudgetCall, BudgetReply};
use super::budget_model::{self, Model};
use super::budgets::tokens;
use super::process::{Moments, Process};
use super::quota::{QuotaAnswer, QuotaCall, QuotaReply};
use super::{budget, quota, quota_model};
use crate::layer::Layer;
use crate::ledger::LedgerReply;
use crate::{Backend, Result};

const SEEDS: u64 = 20;
const ROUNDS: u64 = 80;

/// A store whose next change of an account waits until others have done something.
struct Interrupted {
    backend: Arc<dyn Backend>,
    /// Taken by the first change: says that it is reached, and waits until it may go on.
    pause: Mutex<Option<(oneshot::Sender<()>, oneshot::Receiver<()>)>>,
}

#[async_trait]
impl Layer for Interrupted {
    fn inner(&self) -> &dyn Backend {
        &*self.backend
    }

    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        if calls.iter().any(|call| matches!(call, LedgerCall::Amend(_))) {
            self.let_others().await;
        }
        self.backend.ledger(calls).await
    }
}

impl Interrupted {
    async fn let_others(&self) {
        let pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((reached, goes_on)) = pause {
            // Either end may be gone, which says the same.
            let _ = reached.send(());
            let _ = goes_on.await;
        }
    }
}

/// How a call is asked.
type Ask<C, R> = for<'d> fn(&'d Process, C) -> BoxFuture<'d, R>;

/// What is asked, and how long after its reading the others come between it and its change.
struct Round<C> {
    main: C,
    others: Vec<C>,
    later: Duration,
}

/// Asks `main`, and all of the others between its reading and its change.
async fn interleaved<C, R>(store: &Store<'_>, round: Round<C>, ask: Ask<C, R>) -> (R, Vec<R>) {
    let (reached, is_reached) = oneshot::channel();
    let (go_on, goes_on) = oneshot::channel();
    let interrupted = Arc::new(Interrupted {
        backend: store.backend(),
        pause: Mutex::new(Some((reached, goes_on))),
    });
    let process = Process::new(interrupted.clone());
    let main = async {
        let reply = ask(&process, round.main).await;
        interrupted.let_others().await;
        reply
    };
    let others = async {
        is_reached.await.expect("it changes something, or is over");
        store.advance(round.later).await;
        let (other, mut answered) = (Process::new(store.backend()), Vec::new());
        for call in round.others {
            answered.push(ask(&other, call).await);
        }
        drop(go_on);
        answered
    };
    join(main, others).await
}

/// The place of `main` among `others` that explains all answers, with what is left then.
fn explained<M: Clone, C, A: PartialEq>(
    before: &M,
    (main, others): (&(C, A), &[(C, A)]),
    by_the_rules: impl Fn(&mut M, &C) -> A,
    is_the_end: impl Fn(&mut M) -> bool,
) -> Option<M> {
    (0..=others.len()).find_map(|place| {
        let (first, then) = others.split_at(place);
        let mut model = before.clone();
        let in_turn = first.iter().chain([main]).chain(then);
        let all = in_turn.fold(true, |all, (call, answer)| {
            by_the_rules(&mut model, call) == *answer && all
        });
        (all && is_the_end(&mut model)).then_some(model)
    })
}

pub(in crate::conformance) async fn reports_between_two_calls_come_before_or_after(store: &Store<'_>) {
    for seed in 0..SEEDS {
        let mut random = Random::new(seed << 32);
        let mut model = Model::default();
        let id = BudgetId::from_uuid(store.uuid());
        for round in 0..ROUNDS {
            let serial = budget_model::random_call(&model, id, &mut random);
            let alone = Round {
                main: serial.clone(),
                others: Vec::new(),
                later: Duration::ZERO,
            };
            let after = budget_round(store, &model, id, alone).await;
            model = after.unwrap_or_else(|| panic!("seed {seed}, round {round}: {serial:?} is not explained"));
            if model.budgets.contains_key(&id) {
                let main = two_calls_of_budget(id, &mut random);
                let others: Vec<_> = (0..=random.below(2)).map(|_| report(id, &mut random)).collect();
                let later = later(&mut random);
                let context = format!("seed {seed}, round {round}: {main:?} beside {others:?}, {later} later");
                let after = budget_round(store, &model, id, Round { main, others, later }).await;
                model = after.unwrap_or_else(|| panic!("no order explains {context}"));
            }
            store.advance(Duration::from_millis(random.below(1_500))).await;
        }
    }
}

/// Whoever is slow may find another day.
fn later(random: &mut Random) -> Duration {
    match random.below(3) {
        0 => Duration::from_millis(random.below(3_000)),
        _ => Duration::ZERO,
    }
}

fn two_calls_of_budget(budget_id: BudgetId, random: &mut Random) -> BudgetCall {
    match random.below(8) {
        0 | 1 => BudgetCall::Reset {
            budget_id,
            command: ResetBudget::default(),
        },
        2 | 3 => {
            let hard = Some(random.below(80));
            let dimensions = [(tokens(), Limits { soft: None, hard })].into();
            BudgetCall::Update {
                budget_id,
                command: UpdateLimits { dimensions },
            }
        }
        4 if random.below(10) == 0 => BudgetCall::Delete(budget_id),
        _ => BudgetCall::Advance(budget_id),
    }
}

fn report(budget_id: BudgetId, random: &mut Random) -> BudgetCall {
    BudgetCall::Report {
        budget_id,
        report: budget_model::random_report(random),
    }
}

/// What the rules leave if some order explains what was answered.
async fn budget_round(store: &Store<'_>, before: &Model, id: BudgetId, round: Round<BudgetCall>) -> Option<Model> {
    let (main, others) = (round.main.clone(), round.others.clone());
    let (own, answers) = interleaved(store, round, |process, call| Box::pin(budget::ask(process, call))).await;
    let process = Process::new(store.backend());
    budget_model::give_order(&process, id).await;
    let end = budget::ask(&process, BudgetCall::Get(id)).await;
    let told = |call: BudgetCall, reply: BudgetReply| ((call, reply.at), budget_model::comparable(reply.answer));
    let others: Vec<_> = others
        .into_iter()
        .zip(answers)
        .map(|(call, reply)| told(call, reply))
        .collect();
    let by_the_rules = |model: &mut Model, (call, at): &(BudgetCall, Moments)| {
        model.settle_before(call, at);
        budget_model::comparable(model.answer(call, at.last))
    };
    let is_withdrawn = has_withdrawal(store, id).await;
    let ordered = before
        .budgets
        .get(&id)
        .is_some_and(|budget| budget.stop.is_some() || budget.withdrawal.is_some());
    let is_the_end = |model: &mut Model| {
        // An order that ended before anybody wrote it down was heard by nobody, and needs no withdrawal.
        if let Some(budget) = model
            .budgets
            .get_mut(&id)
            .filter(|budget| budget.stop.is_none() && !ordered && !is_withdrawn)
        {
            budget.withdrawal = None;
        }
        let wanted = budget_model::comparable(model.answer(&BudgetCall::Get(id), end.at.last));
        wanted == budget_model::comparable(end.answer.clone())
    };
    explained(before, (&told(main, own), &others), by_the_rules, is_the_end)
}

/// Whether a budget still owes somebody the word that an order to stop is over.
async fn has_withdrawal(store: &Store<'_>, id: BudgetId) -> bool {
    let read = LedgerCall::Read(Read {
        account: AccountKey::Budget(id),
        meters: ReadMeters::All,
        places: Vec::new(),
    });
    let mut replies = store.backend().ledger(vec![read]).await;
    match replies.remove(0).expect("the store answers").answer {
        LedgerAnswer::Account(view) => account::budget(&view).expect("a budget").withdrawal.is_some(),
        _ => false,
    }
}

pub(in crate::conformance) async fn admissions_between_two_calls_come_before_or_after(store: &Store<'_>) {
    for seed in 0..SEEDS {
        let mut random = Random::new(seed << 36);
        let mut model: Option<Quota> = None;
        let id = QuotaPolicyId::from_uuid(store.uuid());
        for round in 0..ROUNDS {
            let serial = quota_model::random_call(model.as_ref(), id, &mut random);
            if !quota_model::drains(model.as_ref(), &serial) {
                let alone = Round {
                    main: serial,
                    others: Vec::new(),
                    later: Duration::ZERO,
                };
                let after = quota_round(store, &model, id, alone).await;
                model = after.expect("one call explains itself");
            }
            let is_there = model.as_ref().is_some_and(|quota| quota.policy.deleted_at.is_none());
            if is_there {
                let main = two_calls_of_quota(model.as_ref(), id, &mut random);
                let others: Vec<_> = (0..=random.below(2))
                    .map(|_| use_of(model.as_ref(), id, &mut random))
                    .collect();
                let later = later(&mut random);
                let context = format!("seed {seed}, round {round}: {main:?} beside {others:?}, {later} later");
                let after = quota_round(store, &model, id, Round { main, others, later }).await;
                model = after.unwrap_or_else(|| panic!("no order explains {context}"));
            }
            store.advance(Duration::from_millis(random.below(1_500))).await;
        }
    }
}

fn two_calls_of_quota(model: Option<&Quota>, id: QuotaPolicyId, random: &mut Random) -> QuotaCall {
    let is_such = |call: &QuotaCall| matches!(call, QuotaCall::Update { .. } | QuotaCall::Advance(_));
    let mut calls = std::iter::repeat_with(|| quota_model::random_call(model, id, random));
    calls.find(is_such).expect("one of many is such a call")
}

fn use_of(model: Option<&Quota>, id: QuotaPolicyId, random: &mut Random) -> QuotaCall {
    let is_such = |call: &QuotaCall| matches!(call, QuotaCall::Admit { .. } | QuotaCall::Release { .. });
    let mut calls = std::iter::repeat_with(|| quota_model::random_call(model, id, random));
    calls.find(is_such).expect("one of many is such a call")
}

async fn quota_round(
    store: &Store<'_>,
    before: &Option<Quota>,
    id: QuotaPolicyId,
    round: Round<QuotaCall>,
) -> Option<Option<Quota>> {
    let (main, others) = (round.main.clone(), round.others.clone());
    let (own, answers) = interleaved(store, round, |process, call| Box::pin(quota::ask(process, call))).await;
    let process = Process::new(store.backend());
    let marks: Vec<QuotaCall> = others.iter().zip(&answers).filter_map(again).collect();
    for mark in &marks {
        quota::ask(&process, mark.clone()).await.answer.expect("marked");
    }
    let end = quota::ask(&process, QuotaCall::Get(id)).await;
    let told = |call: QuotaCall, reply: QuotaReply| ((call, reply.at), comparable(reply.answer));
    let others: Vec<_> = others
        .into_iter()
        .zip(answers)
        .map(|(call, reply)| told(call, reply))
        .collect();
    let by_the_rules = |model: &mut Option<Quota>, (call, at): &(QuotaCall, Moments)| {
        quota_model::forget_what_has_stopped_counting(model.as_mut(), call, at.last);
        comparable(quota_model::answer(model, call, at.last))
    };
    let is_the_end = |model: &mut Option<Quota>| {
        for mark in &marks {
            quota_model::answer(model, mark, end.at.last).expect("marked");
        }
        comparable(quota_model::answer(model, &QuotaCall::Get(id), end.at.last)) == comparable(end.answer.clone())
    };
    explained(before, (&told(main, own), &others), by_the_rules, is_the_end)
}

/// Whoever is refused marks again when the generation has moved since, as it has here if anything did.
fn again((call, reply): (&QuotaCall, &QuotaReply)) -> Option<QuotaCall> {
    match (call, &reply.answer) {
        (
            QuotaCall::Admit { quota_policy_id, ask },
            Ok(QuotaAnswer::Admission(QuotaAdmission::CapFull { .. } | QuotaAdmission::WindowFull { .. })),
        ) => Some(QuotaCall::MarkBlocked {
            quota_policy_id: *quota_policy_id,
            partition: ask.execution_id.partition(),
            continues: ask.continues,
        }),
        _ => None,
    }
}

/// A refusal may name a generation that has moved since: then whoever is refused looks again.
fn comparable(answer: std::result::Result<QuotaAnswer, Rejection>) -> std::result::Result<QuotaAnswer, Code> {
    let mut answer = answer.map_err(|rejection| rejection.code);
    if let Ok(QuotaAnswer::Admission(
        QuotaAdmission::CapFull { generation, .. } | QuotaAdmission::WindowFull { generation, .. },
    )) = &mut answer
    {
        *generation = 0;
    }
    answer
}
