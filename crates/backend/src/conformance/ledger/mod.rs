//! The ledger: random calls are answered what a model of integers answers.

mod ask;
mod budgets;
mod model;
mod quotas;

use ff_core::ledger::{AccountKey, AccountView, Amend, LedgerAnswer, LedgerCall, Numbers, Read, ReadHolds, ReadMeters};
use ff_core::time::{Duration, Timestamp};

pub use self::budgets::budgets_over_accounts_answer_what_the_rules_say;
pub use self::quotas::quotas_over_accounts_answer_what_the_rules_say;

use self::ask::Asker;
use self::model::Model;
use crate::ledger::{Ledger, LedgerReply};

const SEEDS: u64 = 40;
const CALLS: u64 = 400;

/// Compares a store with the model, under a clock that `advance` moves.
pub async fn random_calls_answer_what_integers_say(ledger: &dyn Ledger, advance: &(dyn Fn(Duration) + Sync)) {
    for seed in 0..SEEDS {
        let mut asker = Asker::new(seed);
        let mut model = Model::default();
        for number in 0..CALLS {
            let call = asker.call(&model);
            let (reply, wanted) = both(ledger, &mut model, &call).await;
            assert_eq!(reply, wanted, "seed {seed}, call {number}: {call:?}");
            for account in asker.accounts() {
                compare(ledger, &mut model, account, (seed, number)).await;
            }
            advance(asker.pause());
        }
    }
}

/// What the store and the model answer.
async fn both(ledger: &dyn Ledger, model: &mut Model, call: &LedgerCall) -> (LedgerAnswer, LedgerAnswer) {
    let mut replies = ledger.ledger(vec![call.clone()]).await;
    assert_eq!(replies.len(), 1, "one reply per call");
    let reply = replies.remove(0).expect("the store answers");
    let wanted = model.answer(call, reply.now);
    (comparable(reply.answer), comparable(wanted))
}

/// Everything of an account is as in the model.
async fn compare(ledger: &dyn Ledger, model: &mut Model, account: AccountKey, at: (u64, u64)) {
    let read = LedgerCall::Read(Read {
        account,
        meters: ReadMeters::All,
        places: vec![(ask::WINDOW, 0), (ask::WINDOW, 2)],
    });
    let holds = LedgerCall::Holds(ReadHolds {
        account,
        older_than: Duration::ZERO,
        after: None,
        limit: 1_000,
    });
    for call in [read, holds] {
        let (reply, wanted) = both(ledger, model, &call).await;
        assert_eq!(reply, wanted, "after {at:?}: {call:?}");
    }
}

/// A number that shows nothing may be there or not.
fn comparable(answer: LedgerAnswer) -> LedgerAnswer {
    match answer {
        LedgerAnswer::Account(mut view) => {
            view.meters.retain(|_, numbers| *numbers != Numbers::default());
            LedgerAnswer::Account(view)
        }
        answer => answer,
    }
}

/// One account of a store.
struct Asked<'l> {
    ledger: &'l dyn Ledger,
    account: AccountKey,
}

impl Asked<'_> {
    async fn call(&self, call: LedgerCall) -> LedgerReply {
        let mut replies = self.ledger.ledger(vec![call]).await;
        replies.remove(0).expect("the store answers")
    }

    async fn amend(&self, amend: Amend) {
        let amended = self.call(LedgerCall::Amend(amend)).await.answer;
        assert!(matches!(amended, LedgerAnswer::Amended { .. }), "{amended:?}");
    }

    /// The account with all its numbers, if it is there.
    async fn read(&self) -> (Timestamp, Option<AccountView>) {
        let all = Read {
            account: self.account,
            meters: ReadMeters::All,
            places: Vec::new(),
        };
        let LedgerReply { now, answer, .. } = self.call(LedgerCall::Read(all)).await;
        match answer {
            LedgerAnswer::Account(view) => (now, Some(*view)),
            _ => (now, None),
        }
    }
}
