//! What only this store can get wrong: which accounts are locked, and how a log is numbered.

use ff_backend::Backend as _;
use ff_core::id::{BudgetId, ExecutionId, GrantId};
use ff_core::ledger::{
    AccountKey, AccountView, Amend, Bound, Entry, Expected, Floor, Give, LedgerAnswer, LedgerCall, Meter, NUMBER_MAX,
    Number, Numbers, PlaceEntry, Read, ReadMeters, ReadPlaces, Take, TakeKind,
};
use ff_core::limits::GRANT_TTL_MAX;
use ff_core::partition::PartitionCounts;
use ff_core::record::DIMENSIONS_MAX;
use ff_core::time::{Duration, Timestamp};
use ff_postgres_server::Database;
use tokio_postgres::NoTls;
use uuid::Uuid;

use crate::library::LIBRARY;
use crate::{Options, PostgresBackend};

const SLOTS: Meter = Meter::own("slots");

#[test]
fn the_library_has_the_numbers_of_the_ledger() {
    for (name, number) in [
        ("number_max", NUMBER_MAX.to_string()),
        ("dimensions_max", DIMENSIONS_MAX.to_string()),
        ("grant_ttl_max_ms", GRANT_TTL_MAX.as_millis().to_string()),
    ] {
        let start = format!("CREATE FUNCTION {name}()");
        let found = LIBRARY.text.lines().find(|line| line.starts_with(&start));
        assert!(
            found.is_some_and(|line| line.contains(&number)),
            "{name} is {number}: {found:?}"
        );
    }
}

/// A store whose budgets share a partition.
async fn store() -> (Database, PostgresBackend) {
    let database = Database::fresh().await;
    let options = Options {
        counts: PartitionCounts::new(2, 1, 1).unwrap(),
        may_lose_writes: true,
        ..Options::new(database.url())
    };
    let store = PostgresBackend::open(&options).await.unwrap();
    (database, store)
}

async fn answers(store: &PostgresBackend, calls: Vec<LedgerCall>) -> Vec<LedgerAnswer> {
    let replies = store.ledger(calls).await.into_iter();
    replies.map(|reply| reply.unwrap().answer).collect()
}

fn account(number: u128) -> AccountKey {
    AccountKey::Budget(BudgetId::from_uuid(Uuid::from_u128(number)))
}

fn grant(number: u128) -> GrantId {
    GrantId::from_uuid(Uuid::from_u128(number))
}

fn create(account: AccountKey) -> LedgerCall {
    let tag = 1;
    LedgerCall::Amend(Amend {
        tag,
        ..Amend::new(account, Expected::Absent)
    })
}

fn take(accounts: &[AccountKey], number: u128, entries: Vec<Entry>) -> LedgerCall {
    LedgerCall::Take(Take {
        path: accounts.iter().map(|account| (*account, 1)).collect(),
        grant: grant(number),
        holder: ExecutionId::new(0, Uuid::from_u128(number)),
        instead_of: None,
        tiers: vec![entries],
        mark: None,
    })
}

fn slot(at: usize) -> Entry {
    Entry::Number(Number {
        at,
        meter: SLOTS,
        kind: TakeKind::Held,
        floor: Floor::None,
        delta: 1,
        bound: Bound::Free,
    })
}

fn place(name: &str, window: Duration) -> Entry {
    Entry::Place(PlaceEntry {
        at: 0,
        name: name.to_owned(),
        window,
        at_most: 1_000,
    })
}

fn give(account: AccountKey, number: u128) -> LedgerCall {
    LedgerCall::Give(Give {
        path: vec![account],
        grant: grant(number),
        undo: true,
        back: Vec::new(),
    })
}

fn read(account: AccountKey, places: Vec<ReadPlaces>) -> LedgerCall {
    LedgerCall::Read(Read {
        account,
        meters: ReadMeters::All,
        places,
    })
}

fn view(answer: &LedgerAnswer) -> &AccountView {
    match answer {
        LedgerAnswer::Account(view) => view,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_was_taken_of_an_account_that_nobody_names_is_given_back_too() {
    let (_database, store) = store().await;
    let [first, second, third] = [1, 2, 3].map(account);
    let mut calls: Vec<LedgerCall> = [first, second, third].map(create).to_vec();
    calls.push(take(&[second, first], 7, vec![slot(0), slot(1)]));
    answers(&store, calls).await;
    // The grant also holds something of the first account, which only the hold says, and only once it was read.
    let calls = vec![
        take(&[third], 8, vec![slot(0)]),
        give(second, 7),
        give(third, 8),
        give(second, 7),
    ];
    let taken = LedgerAnswer::Taken { tier: 0, again: false };
    let given = [LedgerAnswer::Given, LedgerAnswer::Given, LedgerAnswer::Unknown];
    assert_eq!(answers(&store, calls).await, [vec![taken], given.to_vec()].concat());
    for account in [first, second, third] {
        let found = answers(&store, vec![read(account, Vec::new())]).await;
        assert_eq!(view(&found[0]).meters[&SLOTS], Numbers::default(), "{account}");
        assert_eq!(view(&found[0]).head.generation, 2, "{account}");
    }
}

#[tokio::test]
async fn nobody_waits_for_an_account_of_others_and_no_reader_for_a_writer() {
    let (database, store) = store().await;
    let [held, free] = [1, 2].map(account);
    answers(&store, [held, free].map(create).to_vec()).await;
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let lock = format!("BEGIN; SELECT FROM account WHERE account = '{held}' FOR UPDATE");
    client.batch_execute(&lock).await.unwrap();
    let taken = answers(&store, vec![take(&[free], 1, vec![slot(0)])]).await;
    assert_eq!(taken, [LedgerAnswer::Taken { tier: 0, again: false }]);
    let found = answers(&store, vec![read(held, Vec::new())]).await;
    assert_eq!(view(&found[0]).account, held);
    client.batch_execute("ROLLBACK").await.unwrap();
}

#[tokio::test]
async fn batches_that_meet_in_any_order_all_come_to_an_end() {
    let (_database, store) = store().await;
    let all = [1, 2, 3, 4].map(account);
    answers(&store, all.map(create).to_vec()).await;
    let batch = |number: u128| {
        let mut path = all.to_vec();
        path.rotate_left(usize::try_from(number % 4).unwrap());
        if number.is_multiple_of(3) {
            path.reverse();
        }
        // The path of what is given back names one account of four.
        let taken = take(&path, number, (0..4).map(slot).collect());
        vec![vec![taken], vec![give(path[0], number)]]
    };
    let callers = (100..164).map(|number| {
        let (store, batch) = (store.clone(), batch(number));
        async move {
            for calls in batch {
                answers(&store, calls).await;
            }
        }
    });
    futures::future::join_all(callers).await;
    for account in all {
        let found = answers(&store, vec![read(account, Vec::new())]).await;
        assert_eq!(view(&found[0]).meters[&SLOTS], Numbers::default(), "{account}");
    }
}

#[tokio::test]
async fn places_that_never_count_again_are_deleted() {
    let (database, store) = store().await;
    let (account, window) = (account(1), Duration::from_secs(1));
    let mut calls = vec![create(account)];
    calls.extend((0..40).map(|number| take(&[account], number, vec![place(&format!("old-{number}"), window)])));
    answers(&store, calls).await;
    store.advance_clock(window);
    let look = ReadPlaces {
        window,
        at_most: 0,
        beside: None,
    };
    let calls = vec![
        take(&[account], 50, vec![place("new", window)]),
        read(account, vec![look]),
    ];
    let found = answers(&store, calls).await;
    assert_eq!(view(&found[1]).places[0].count, 1);
    let tidy = format!(
        "SELECT {}.tidy(caller => ROW(0, 0, 0, 0), at_most => 7) FROM generate_series(1, 9)",
        LIBRARY.schema
    );
    database.ask(&tidy).await;
    assert_eq!(database.ask("SELECT number, name FROM account_place").await, "40|new");
    let log = "SELECT oldest_place, first_place, next_place, (SELECT count(*) FROM account_past) FROM account";
    assert_eq!(database.ask(log).await, "40|40|41|0");
}

/// Names with the moment they took their place, oldest first.
type Plain = Vec<(u64, u64)>;

/// Compares a log with a plain list, over many random moves with windows that differ.
#[tokio::test]
async fn a_log_with_gaps_counts_like_a_list() {
    let (_database, store) = store().await;
    let account = account(1);
    answers(&store, vec![create(account)]).await;
    let (mut plain, mut random, mut gaps) = (Plain::new(), 1_u64, 0);
    let mut below = |end: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % end
    };
    for turn in 0..600_u64 {
        let (name, move_by, age) = (below(30), below(8), Duration::from_millis(below(4) * below(20_000)));
        let at_most = below(12);
        store.advance_clock(Duration::from_millis(below(300)));
        let call = match move_by {
            0 => LedgerCall::Amend(Amend {
                tag: turn + 1,
                forget_places: Some(age),
                ..Amend::new(account, Expected::Any)
            }),
            1 | 2 => give(account, u128::from(name)),
            _ => take(&[account], u128::from(name), vec![place(&name.to_string(), age)]),
        };
        let look = ReadPlaces {
            window: age,
            at_most,
            beside: None,
        };
        let replies = store.ledger(vec![call, read(account, vec![look])]).await;
        let [made, found] = <[_; 2]>::try_from(replies).unwrap().map(Result::unwrap);
        let edge = made.now.as_millis().saturating_sub(age.as_millis());
        match made.answer {
            LedgerAnswer::Taken { again: false, .. } => {
                if !plain.iter().any(|(other, at)| *other == name && *at > edge) {
                    plain.retain(|(other, _)| *other != name);
                    plain.push((name, made.now.as_millis()));
                }
                plain.retain(|(_, at)| *at > edge);
            }
            LedgerAnswer::Amended { .. } => plain.retain(|(_, at)| *at > edge),
            LedgerAnswer::Given => {
                gaps += 1;
                plain.retain(|(other, _)| *other != name);
            }
            LedgerAnswer::Taken { .. } | LedgerAnswer::Unknown | LedgerAnswer::Late => {}
            other => panic!("{other:?}"),
        }
        let seen = view(&found.answer).places[0];
        let younger = plain.iter().filter(|(_, at)| *at > edge).count();
        assert_eq!(seen.count, younger as u64, "turn {turn}");
        let wanted = plain.iter().rev().nth(usize::try_from(at_most).unwrap());
        let falls_at = wanted.map(|(_, at)| Timestamp::from_millis(*at) + age);
        assert_eq!(seen.falls_at, falls_at, "turn {turn}");
    }
    assert!(gaps > 20, "{gaps}");
}
