//! A step that meets something unreadable does nothing and says so; the others of its call go on.

use ff_backend::{Backend, Error};
use ff_core::id::{ExecutionId, GrantId};
use ff_core::ledger::{
    AccountKey, Bound, Draw, Entry, Floor, Give, LedgerAnswer, LedgerCall, Meter, Number, Take, TakeKind, Use,
};
use ff_core::partition::PartitionCounts;
use uuid::Uuid;

use super::{Scratch, budget};

fn grant(number: u128) -> GrantId {
    GrantId::from_uuid(Uuid::from_u128(number))
}

fn take(account: AccountKey, number: u128) -> LedgerCall {
    LedgerCall::Take(Take {
        path: vec![(account, 1)],
        grant: grant(number),
        holder: ExecutionId::new(3, Uuid::from_u128(number)),
        instead_of: None,
        tiers: vec![vec![Entry::Number(Number {
            at: 0,
            meter: Meter::own("slots"),
            kind: TakeKind::Held,
            floor: Floor::None,
            delta: 1,
            bound: Bound::Free,
        })]],
        mark: None,
    })
}

fn give(account: AccountKey, number: u128) -> LedgerCall {
    LedgerCall::Give(Give {
        path: vec![account],
        grant: grant(number),
        undo: false,
        back: Vec::new(),
    })
}

fn draw(account: AccountKey) -> LedgerCall {
    let spent = |name| Use {
        at: 0,
        meter: Meter::own(name),
        amount: 1,
        always: true,
    };
    LedgerCall::Draw(Draw {
        path: vec![(account, 1)],
        grant: None,
        identities: Vec::new(),
        bearer: None,
        uses: vec![spent("good"), spent("bad")],
        watches: Vec::new(),
    })
}

fn key(what: &str, account: AccountKey) -> String {
    format!("{}:{what}:{account}", account.partition(&PartitionCounts::default()))
}

async fn outcomes(scratch: &Scratch, calls: Vec<LedgerCall>) -> Vec<Result<LedgerAnswer, Error>> {
    let replies = scratch.backend.ledger(calls).await.into_iter();
    replies.map(|reply| reply.map(|reply| reply.answer)).collect()
}

fn is_corrupt(outcome: &Result<LedgerAnswer, Error>) -> bool {
    matches!(outcome, Err(Error::Corrupt(_)))
}

#[tokio::test]
async fn a_number_that_is_none_fails_who_looks_at_it_and_nobody_else() {
    let scratch = Scratch::new().await;
    let (torn, whole) = (budget(1), budget(2));
    scratch.create(torn).await;
    scratch.create(whole).await;
    let account = key("account", torn);
    scratch.server.ask(&format!("HSET {account} own:bad nonsense")).await;
    let outcomes = outcomes(&scratch, vec![draw(torn), draw(whole), take(whole, 1)]).await;
    assert!(is_corrupt(&outcomes[0]), "{outcomes:?}");
    assert_eq!(outcomes[1], Ok(LedgerAnswer::Drawn(vec![1, 1])));
    assert!(outcomes[2].is_ok(), "{outcomes:?}");
    let good = scratch.server.ask(&format!("HEXISTS {account} own:good")).await;
    assert_eq!(good.integer(), 0, "nothing of it was done");
    scratch.server.ask(&format!("HDEL {account} own:bad")).await;
    assert_eq!(scratch.ask(vec![draw(torn)]).await, [LedgerAnswer::Drawn(vec![1, 1])]);
}

#[tokio::test]
async fn a_hold_that_is_none_fails_who_looks_at_it_and_nobody_else() {
    let scratch = Scratch::new().await;
    let account = budget(1);
    scratch.create(account).await;
    let holds = key("holds", account);
    let member = format!("{} nonsense", grant(1));
    scratch
        .server
        .command(&[b"ZADD", holds.as_bytes(), b"0", member.as_bytes()])
        .await;
    let outcomes = outcomes(
        &scratch,
        vec![take(account, 1), take(account, 2), give(account, 1), give(account, 2)],
    )
    .await;
    assert!(is_corrupt(&outcomes[0]) && is_corrupt(&outcomes[2]), "{outcomes:?}");
    assert_eq!(outcomes[3], Ok(LedgerAnswer::Given));
}

#[tokio::test]
async fn an_account_that_is_no_hash_is_unreadable() {
    let scratch = Scratch::new().await;
    let (torn, whole) = (budget(1), budget(2));
    scratch.create(whole).await;
    scratch
        .server
        .ask(&format!("SET {} nonsense", key("account", torn)))
        .await;
    let outcomes = outcomes(&scratch, vec![take(torn, 1), take(whole, 1)]).await;
    assert!(is_corrupt(&outcomes[0]) && outcomes[1].is_ok(), "{outcomes:?}");
}
