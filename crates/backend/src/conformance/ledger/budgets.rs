//! Calls about budgets, answered over accounts and by the rules as they were: random calls are answered the same.

use ff_core::error::Rejection;
use ff_core::id::BudgetId;
use ff_core::ledger::{AccountKey, AccountView, Amend, Expected, LedgerAnswer, LedgerCall};
use ff_core::machine::budget::{self, BudgetWork, UsageReport, account};
use ff_core::record::Budget;
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use super::super::budget_model::{Model, random_call};
use super::super::build::Random;
use super::Asked;
use crate::budget::{BudgetAnswer, BudgetCall};
use crate::ledger::Ledger;

const SEEDS: u64 = 60;
const CALLS: u64 = 250;

/// Compares what accounts come to with what the rules say, call by call.
pub async fn budgets_over_accounts_answer_what_the_rules_say(ledger: &dyn Ledger, advance: &(dyn Fn(Duration) + Sync)) {
    for seed in 0..SEEDS {
        let mut random = Random::new(seed << 40);
        let mut model = Model::default();
        let id = BudgetId::from_uuid(Uuid::from_u128(u128::from(seed) + 1));
        let accounts = Asked {
            ledger,
            account: AccountKey::Budget(id),
        };
        for number in 0..CALLS {
            let asked = random_call(&model, id, &mut random);
            let (now, answered) = accounts.answer_of_budget(&asked).await;
            // A reset that is due happens before a report, also before one that turns out to be a repetition.
            if matches!(asked, BudgetCall::Report { .. }) {
                model.settle(id, now);
            }
            let wanted = model.answer(&asked, now);
            assert_eq!(
                comparable(answered),
                comparable(wanted),
                "seed {seed}, call {number}: {asked:?}"
            );
            if random.below(5) == 0 {
                advance(Duration::from_millis(random.below(3_000)));
            }
        }
    }
}

/// By which generation an order to stop is known matters only to who gave it.
fn comparable(answer: Result<BudgetAnswer, Rejection>) -> Result<BudgetAnswer, ff_core::error::Code> {
    match answer {
        Ok(BudgetAnswer::Work(work)) => Ok(BudgetAnswer::Work(BudgetWork {
            withdraw: work.withdraw.map(|_| 0),
            stop: work.stop.map(|stop| budget::Stop { generation: 0, ..stop }),
            release: work.release,
        })),
        answer => answer.map_err(|rejection| rejection.code),
    }
}

impl Asked<'_> {
    async fn budget(&self) -> (Timestamp, Option<(AccountView, Budget)>) {
        let (now, view) = self.read().await;
        let with_budget = |view: AccountView| {
            let budget = account::budget(&view).expect("a budget");
            (view, budget)
        };
        (now, view.map(with_budget))
    }

    async fn answer_of_budget(&self, asked: &BudgetCall) -> (Timestamp, Result<BudgetAnswer, Rejection>) {
        let (now, found) = self.budget().await;
        let answer = match (asked, found) {
            (BudgetCall::Create { budget_id, command }, found) => {
                let is_new = found.is_none();
                let mut slot = found.map(|(_, budget)| budget);
                let created = budget::create(&mut slot, *budget_id, command, now);
                if let Some(budget) = slot.filter(|_| is_new) {
                    self.create_budget(&budget).await;
                }
                created.map(BudgetAnswer::Created)
            }
            (_, None) => Err(budget::not_found(BudgetId::from_uuid(Uuid::nil()))),
            (BudgetCall::Get(_), Some((_, found))) => Ok(BudgetAnswer::Budget(Box::new(budget::view(&found, now)))),
            (BudgetCall::Report { report, .. }, Some((view, found))) => self.report(&view, &found, report, now).await,
            (BudgetCall::MarkBlocked { partition, .. }, Some((view, _))) => {
                self.amend(account::mark(self.account, *partition, view.head.generation))
                    .await;
                Ok(BudgetAnswer::Done)
            }
            (BudgetCall::ForgetBlocked { partition, round, .. }, Some(_)) => {
                self.amend(account::forget(self.account, *partition, *round)).await;
                Ok(BudgetAnswer::Done)
            }
            (_, Some((view, found))) => self.change(asked, &view, &found, now).await,
        };
        (now, answer)
    }

    async fn create_budget(&self, budget: &Budget) {
        let amend = Amend {
            body: Some(account::body(budget).expect("a body")),
            redefines: true,
            stale_at: Some(budget.next_reset_at),
            ..Amend::new(self.account, Expected::Absent)
        };
        self.amend(amend).await;
    }

    /// What the rules do to the budget is done to the account.
    async fn change(
        &self,
        asked: &BudgetCall,
        view: &AccountView,
        found: &Budget,
        now: Timestamp,
    ) -> Result<BudgetAnswer, Rejection> {
        let mut after = found.clone();
        let answer = match asked {
            BudgetCall::Update { command, .. } => {
                budget::update_limits(&mut after, command, now).map(BudgetAnswer::Updated)
            }
            BudgetCall::Reset { command, .. } => budget::reset(&mut after, command, now).map(BudgetAnswer::Reset),
            BudgetCall::Delete(_) => Ok(BudgetAnswer::Deleted(budget::delete(&mut after, now))),
            BudgetCall::Advance(_) => Ok(BudgetAnswer::Work(budget::advance(&mut after, now))),
            BudgetCall::Stopped { began_at, .. } => {
                budget::stopped(&mut after, *began_at);
                Ok(BudgetAnswer::Done)
            }
            BudgetCall::Withdrawn { generation, .. } => {
                budget::withdrawn(&mut after, *generation);
                Ok(BudgetAnswer::Done)
            }
            other => panic!("{other:?} is not part of this comparison"),
        };
        self.amend(account::amend(view, found, &after).expect("a body")).await;
        answer
    }

    async fn report(
        &self,
        view: &AccountView,
        found: &Budget,
        report: &UsageReport,
        now: Timestamp,
    ) -> Result<BudgetAnswer, Rejection> {
        budget::check_deltas(&report.deltas)?;
        if found.deleted_at.is_some() {
            return Ok(BudgetAnswer::Reported(ff_core::command::budget::Reported::Gone));
        }
        let draw = account::draw(self.account, view.head.revision, found, report);
        let mut answer = self.call(LedgerCall::Draw(draw.clone())).await.answer;
        if answer == LedgerAnswer::Stale(self.account) {
            let after = account::settled(found, now).expect("a reset is due");
            self.amend(account::amend(view, found, &after).expect("a body")).await;
            answer = self.call(LedgerCall::Draw(draw)).await.answer;
        }
        let reported = account::judged(found, report, &answer);
        self.look().await;
        Ok(BudgetAnswer::Reported(
            reported.unwrap_or_else(|| panic!("{answer:?} is no report")),
        ))
    }

    /// What the pump does once a limit was passed: an order to stop is given.
    async fn look(&self) {
        let (_, found) = self.budget().await;
        if let Some((view, budget)) = found {
            self.amend(account::amend(&view, &budget, &budget).expect("a body"))
                .await;
        }
    }
}
