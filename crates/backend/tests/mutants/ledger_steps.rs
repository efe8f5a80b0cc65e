//! Accounts that are changed in two steps where there must be one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use ff_backend::layer::Layer;
use ff_backend::ledger::LedgerReply;
use ff_backend::{Backend, Result};
use ff_core::ledger::{
    AccountKey, AccountView, Amend, Draw, Expected, Give, LedgerAnswer, LedgerCall, Meter, Move, Moved, Read,
    ReadMeters,
};

use crate::liar::lies;

/// Versions that nobody else gives.
static TAG: AtomicU64 = AtomicU64::new(1);

lies! {
    // What was last read of an account.
    Mutex<Option<AccountView>>;
    /// What is passed is counted by a call of its own.
    CountsBreachesLater,
    /// The moment to look is replaced whoever brought it forward.
    OverwritesDue,
    /// What is given wakes nobody.
    GivesQuietly,
    /// What begins again loses what its caller has read, and keeps what came since.
    ResetSubtracts,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        let mut replies = Vec::new();
        for call in calls {
            replies.push(self.answer(call).await);
        }
        replies
    }
}

impl Liar {
    async fn answer(&self, call: LedgerCall) -> Result<LedgerReply> {
        match (self.lie, call) {
            (Lie::CountsBreachesLater, LedgerCall::Draw(draw)) => self.draw_then_count(draw).await,
            (Lie::OverwritesDue, LedgerCall::Amend(amend)) => self.overwrite_due(amend).await,
            (Lie::GivesQuietly, LedgerCall::Give(give)) => self.give_quietly(give).await,
            (Lie::ResetSubtracts, LedgerCall::Read(read)) => {
                let reply = self.call(LedgerCall::Read(read)).await?;
                if let LedgerAnswer::Account(view) = &reply.answer {
                    *self.seen.lock().expect("no panic") = Some(AccountView::clone(view));
                }
                Ok(reply)
            }
            (Lie::ResetSubtracts, LedgerCall::Amend(amend)) if amend.restart => {
                let read = self.seen.lock().expect("no panic").take();
                self.call(LedgerCall::Amend(subtracting(amend, read))).await
            }
            (_, call) => self.call(call).await,
        }
    }

    async fn call(&self, call: LedgerCall) -> Result<LedgerReply> {
        self.inner().ledger(vec![call]).await.remove(0)
    }

    async fn draw_then_count(&self, mut draw: Draw) -> Result<LedgerReply> {
        let (watches, path) = (std::mem::take(&mut draw.watches), draw.path.clone());
        let reply = self.call(LedgerCall::Draw(draw)).await?;
        if matches!(reply.answer, LedgerAnswer::Drawn(_)) {
            for watch in watches {
                self.add(path[watch.at].0, watch.count, 1).await?;
            }
        }
        Ok(reply)
    }

    async fn overwrite_due(&self, mut amend: Amend) -> Result<LedgerReply> {
        let read = Read {
            account: amend.account,
            meters: ReadMeters::Only(Vec::new()),
            places: Vec::new(),
        };
        if let LedgerAnswer::Account(view) = self.call(LedgerCall::Read(read)).await?.answer {
            amend.due = amend.due.map(|(_, at)| (view.head.due.stamp, at));
        }
        self.call(LedgerCall::Amend(amend)).await
    }

    async fn give_quietly(&self, give: Give) -> Result<LedgerReply> {
        let account = give.path[0];
        let reply = self.call(LedgerCall::Give(give)).await?;
        if reply.answer == LedgerAnswer::Given {
            self.add(account, Meter::Generation, -1).await?;
        }
        Ok(reply)
    }

    async fn add(&self, account: AccountKey, meter: Meter, by: i64) -> Result<LedgerReply> {
        let amend = Amend {
            moves: vec![added(meter, by)],
            tag: TAG.fetch_add(1, Ordering::Relaxed),
            ..Amend::new(account, Expected::Any)
        };
        self.call(LedgerCall::Amend(amend)).await
    }
}

const fn added(meter: Meter, by: i64) -> Moved {
    let by = Move::Add(by);
    Moved { meter, by }
}

/// Takes off what was read.
fn subtracting(mut amend: Amend, read: Option<AccountView>) -> Amend {
    let meters = read.into_iter().flat_map(|view| view.meters);
    let spent = meters.filter(|(meter, _)| matches!(meter, Meter::Spent(_)));
    amend
        .moves
        .extend(spent.map(|(meter, numbers)| added(meter, -numbers.used)));
    amend.moves.push(added(Meter::Generation, 1));
    amend.restart = false;
    amend
}
