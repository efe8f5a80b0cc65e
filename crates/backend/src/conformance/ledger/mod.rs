//! The ledger: random calls are answered what a model of integers answers, and what they leave is due, listed and hinted.

mod ask;
mod cases;
mod model;

use ff_core::ledger::{
    AccountKey, AccountView, Amend, LedgerAnswer, LedgerCall, Numbers, Read, ReadHolds, ReadMeters, ReadPlaces,
};
use ff_core::time::{Duration, Timestamp};

pub(super) use self::cases::*;

use self::ask::Asker;
use self::model::Model;
use super::build::Store;
use crate::ledger::LedgerReply;

const SEEDS: u64 = 25;
const CALLS: u64 = 300;

/// Every call, or a few that meet each other, go with readings of all there is, in one batch: they see what was done.
pub(super) async fn random_calls_answer_what_integers_say(store: &Store<'_>) {
    for seed in 0..SEEDS {
        let mut asker = Asker::new(seed, &store.counts());
        let mut model = Model::default();
        for number in 0..CALLS {
            let mut calls = asker.calls(&model);
            let asked = calls.clone();
            calls.extend(asker.accounts().into_iter().flat_map(everything_of));
            let replies = store.backend().ledger(calls.clone()).await;
            assert_eq!(replies.len(), calls.len(), "one reply per call");
            for (call, reply) in calls.iter().zip(replies) {
                let LedgerReply { now, answer, .. } = reply.expect("the store answers");
                let wanted = model.answer(call, now);
                let context = format!("seed {seed}, call {number}: {asked:?}, then {call:?}");
                assert_eq!(comparable(answer), comparable(wanted), "{context}");
            }
            if number % 5 == 0 {
                what_is_due_is_as_in_the_model(store, &model, asker.accounts()).await;
            }
            store.advance(asker.pause()).await;
        }
    }
}

/// Reads all of an account.
fn everything_of(account: AccountKey) -> [LedgerCall; 2] {
    let places = |at_most, beside| ReadPlaces {
        window: ask::WINDOW,
        at_most,
        beside,
    };
    let read = Read {
        account,
        meters: ReadMeters::All,
        places: vec![places(0, None), places(2, None), places(4, Some(ask::PROMISED))],
    };
    let holds = ReadHolds {
        account,
        older_than: Duration::ZERO,
        after: None,
        limit: 1_000,
    };
    [LedgerCall::Read(read), LedgerCall::Holds(holds)]
}

async fn what_is_due_is_as_in_the_model(store: &Store<'_>, model: &Model, accounts: [AccountKey; 2]) {
    let partition = accounts[0].partition(&store.counts());
    let page = store.due_in(&[partition], 1_000).await;
    for account in accounts {
        let due_at = model.due_at(account);
        let key = crate::due::DueKey::Account(account);
        let found = page.items.iter().find(|item| item.key == key).map(|item| item.due_at);
        assert_eq!(
            found,
            due_at.filter(|at| at.has_come(page.now)),
            "{account}, due {due_at:?}"
        );
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
struct Asked<'s> {
    store: &'s Store<'s>,
    account: AccountKey,
}

impl Asked<'_> {
    async fn call(&self, call: LedgerCall) -> LedgerReply {
        let mut replies = self.store.backend().ledger(vec![call]).await;
        replies.remove(0).expect("the store answers")
    }

    async fn amend(&self, amend: Amend) {
        let amend = self.tagged(amend);
        let amended = self.call(LedgerCall::Amend(amend)).await.answer;
        assert!(matches!(amended, LedgerAnswer::Amended { .. }), "{amended:?}");
    }

    /// A change under a number of its own.
    fn tagged(&self, amend: Amend) -> Amend {
        let tag = self.store.serial() + 1;
        Amend { tag, ..amend }
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
