//! Ledgers that count wrong, and the comparison with integers that notices each.

use std::sync::Arc;

use async_trait::async_trait;
use ff_backend::Result;
use ff_backend::conformance::ledger::random_calls_answer_what_integers_say;
use ff_backend::ledger::{Ledger, LedgerReply};
use ff_backend::memory::MemoryBackend;
use ff_core::ledger::{Amend, Draw, Expected, LedgerAnswer, LedgerCall, Meter, Move, Moved, Read, ReadMeters, Watch};
use ff_core::partition::PartitionCounts;
use ff_core::time::Timestamp;

/// What is wrong.
#[derive(Clone, Copy, Debug)]
enum Lie {
    /// What is passed is counted by a call of its own.
    CountsBreachesLater,
    /// The moment to look is replaced whoever brought it forward.
    OverwritesDue,
    /// Every change sends callers back.
    RedefinesAlways,
    /// What is given wakes nobody.
    GivesQuietly,
    /// Nobody looks at who waits.
    MarksQuietly,
    /// A hold is forgotten when it is drawn from.
    ForgetsHolds,
}

const LIES: [Lie; 6] = [
    Lie::CountsBreachesLater,
    Lie::OverwritesDue,
    Lie::RedefinesAlways,
    Lie::GivesQuietly,
    Lie::MarksQuietly,
    Lie::ForgetsHolds,
];

struct Lying {
    store: Arc<MemoryBackend>,
    lie: Lie,
}

#[async_trait]
impl Ledger for Lying {
    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        let mut replies = Vec::new();
        for call in calls {
            replies.push(Ok(self.answer(call).await));
        }
        replies
    }
}

impl Lying {
    async fn honest(&self, call: LedgerCall) -> LedgerReply {
        let mut replies = self.store.ledger(vec![call]).await;
        replies.remove(0).expect("the store answers")
    }

    async fn answer(&self, call: LedgerCall) -> LedgerReply {
        match (self.lie, call) {
            (Lie::CountsBreachesLater, LedgerCall::Draw(draw)) => self.draw_then_count(draw).await,
            (Lie::OverwritesDue, LedgerCall::Amend(mut amend)) => {
                let newest = self.stamp(&amend).await;
                amend.due = amend.due.map(|(stamp, at)| (newest.unwrap_or(stamp), at));
                self.honest(LedgerCall::Amend(amend)).await
            }
            (Lie::RedefinesAlways, LedgerCall::Amend(amend)) => {
                let redefines = true;
                self.honest(LedgerCall::Amend(Amend { redefines, ..amend })).await
            }
            (Lie::GivesQuietly, LedgerCall::Give(give)) => {
                let account = give.path[0];
                let reply = self.honest(LedgerCall::Give(give)).await;
                if reply.answer == LedgerAnswer::Given {
                    let moves = vec![Moved {
                        meter: Meter::Generation,
                        by: Move::Add(-1),
                    }];
                    let quiet = Amend {
                        moves,
                        ..Amend::new(account, Expected::Any)
                    };
                    self.honest(LedgerCall::Amend(quiet)).await;
                }
                reply
            }
            (Lie::MarksQuietly, LedgerCall::Take(mut take)) => {
                take.mark = None;
                self.honest(LedgerCall::Take(take)).await
            }
            (Lie::ForgetsHolds, LedgerCall::Draw(draw)) => {
                let grant = None;
                self.honest(LedgerCall::Draw(Draw { grant, ..draw })).await
            }
            (_, call) => self.honest(call).await,
        }
    }

    async fn draw_then_count(&self, draw: Draw) -> LedgerReply {
        let watches: Vec<Watch> = draw.watches.clone();
        let path = draw.path.clone();
        let watched = Draw {
            watches: Vec::new(),
            ..draw
        };
        let reply = self.honest(LedgerCall::Draw(watched)).await;
        if matches!(reply.answer, LedgerAnswer::Drawn(_)) {
            for watch in watches {
                let account = path[watch.at].0;
                let moves = vec![Moved {
                    meter: watch.count,
                    by: Move::Add(1),
                }];
                let counted = Amend {
                    moves,
                    ..Amend::new(account, Expected::Any)
                };
                self.honest(LedgerCall::Amend(counted)).await;
            }
        }
        reply
    }

    async fn stamp(&self, amend: &Amend) -> Option<u64> {
        let read = Read {
            account: amend.account,
            meters: ReadMeters::Only(Vec::new()),
            places: Vec::new(),
        };
        match self.honest(LedgerCall::Read(read)).await.answer {
            LedgerAnswer::Account(view) => Some(view.head.due.stamp),
            _ => None,
        }
    }
}

#[tokio::test]
async fn a_ledger_that_counts_wrong_is_noticed() {
    for lie in LIES {
        let store = MemoryBackend::new(Timestamp::from_millis(1_000_000), PartitionCounts::default());
        let store = Arc::new(store);
        let lying = Lying {
            store: Arc::clone(&store),
            lie,
        };
        let noticed = tokio::spawn(async move {
            random_calls_answer_what_integers_say(&lying, &|by| store.advance(by)).await;
        });
        assert!(noticed.await.is_err(), "{lie:?} is not noticed");
    }
}
