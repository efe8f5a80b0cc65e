//! What the conformance suite cannot see: rows that cannot be read, how often rows are written, and logs with many gaps.

use std::collections::BTreeMap;

use ff_backend::{Backend, Error};
use ff_core::id::{BudgetId, ExecutionId, GrantId};
use ff_core::ledger::{
    AccountKey, Amend, Bound, Entry, Expected, Floor, Give, LedgerAnswer, LedgerCall, Meter, Number, Numbers, Read,
    ReadMeters, Take, TakeKind,
};
use ff_core::partition::PartitionCounts;
use ff_core::time::{Duration, Timestamp};
use rusqlite::Connection;
use tempfile::TempDir;
use uuid::Uuid;

use super::books::Open;
use super::log::{Log, Reading};
use crate::backend::SqliteBackend;
use crate::database::Database;
use crate::migrate::create_tables;
use crate::options::Options;

const SLOTS: Meter = Meter::own("slots");

fn store() -> (TempDir, SqliteBackend) {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        counts: PartitionCounts::new(2, 1, 1).unwrap(),
        ..Options::new(directory.path().join("store.db"))
    };
    let store = SqliteBackend::open(&options).unwrap();
    (directory, store)
}

fn account(number: u128) -> AccountKey {
    AccountKey::Budget(BudgetId::from_uuid(Uuid::from_u128(number)))
}

fn create(account: AccountKey) -> LedgerCall {
    let tag = 1;
    LedgerCall::Amend(Amend {
        tag,
        ..Amend::new(account, Expected::Absent)
    })
}

fn grant(number: u128) -> GrantId {
    GrantId::from_uuid(Uuid::from_u128(number))
}

/// Takes a slot of each account.
fn take(accounts: &[AccountKey], number: u128) -> LedgerCall {
    let slot = |at| {
        Entry::Number(Number {
            at,
            meter: SLOTS,
            kind: TakeKind::Held,
            floor: Floor::None,
            delta: 1,
            bound: Bound::Free,
        })
    };
    LedgerCall::Take(Take {
        path: accounts.iter().map(|account| (*account, 1)).collect(),
        grant: grant(number),
        holder: ExecutionId::new(0, Uuid::from_u128(number)),
        instead_of: None,
        tiers: vec![(0..accounts.len()).map(slot).collect()],
        mark: None,
    })
}

fn give(accounts: &[AccountKey], number: u128) -> LedgerCall {
    LedgerCall::Give(Give {
        path: accounts.to_vec(),
        grant: grant(number),
        undo: true,
        back: Vec::new(),
    })
}

fn read(account: AccountKey) -> LedgerCall {
    LedgerCall::Read(Read {
        account,
        meters: ReadMeters::All,
        places: Vec::new(),
    })
}

async fn answers(store: &SqliteBackend, calls: Vec<LedgerCall>) -> Vec<Result<LedgerAnswer, Error>> {
    let replies = store.ledger(calls).await.into_iter();
    replies.map(|reply| reply.map(|reply| reply.answer)).collect()
}

#[tokio::test]
async fn a_call_that_meets_an_unreadable_row_fails_alone_and_does_nothing() {
    let (_directory, store) = store();
    let both = [account(1), account(2)];
    let mut calls = both.map(create).to_vec();
    calls.extend([take(&both, 1), take(&both[..1], 2)]);
    assert!(answers(&store, calls).await.iter().all(Result::is_ok));
    let before = answers(&store, vec![read(both[0])]).await;
    let damage = store.writer.write(move |batch| {
        let damage = "UPDATE account SET last = '[]' WHERE account = ?1";
        batch.database.connection.execute(damage, [both[1].to_string()])
    });
    assert_eq!(damage.await, Ok(1));
    // The first account and both numbers are changed before the second account is looked at.
    let calls = vec![take(&both[..1], 3), give(&both, 1), give(&both[..1], 3), read(both[1])];
    let after = answers(&store, calls).await;
    assert!(matches!(after[1], Err(Error::Corrupt(_))), "{:?}", after[1]);
    assert!(matches!(after[3], Err(Error::Corrupt(_))), "{:?}", after[3]);
    assert_eq!(after[0], Ok(LedgerAnswer::Taken { tier: 0, again: false }));
    assert_eq!(after[2], Ok(LedgerAnswer::Given));
    let mut left = answers(&store, vec![read(both[0]), take(&both, 1)]).await;
    assert_eq!(left.pop(), Some(Ok(LedgerAnswer::Taken { tier: 0, again: true })));
    let [Ok(LedgerAnswer::Account(before)), Ok(LedgerAnswer::Account(left))] = [&before[0], &left[0]] else {
        panic!("{before:?}, {left:?}");
    };
    assert_eq!(left.meters, before.meters);
    assert_eq!(
        left.head.generation,
        before.head.generation + 1,
        "only one grant was given"
    );
}

#[tokio::test]
async fn a_batch_writes_each_account_and_each_number_once() {
    let (_directory, store) = store();
    let both = [account(1), account(2)];
    answers(&store, both.map(create).to_vec()).await;
    let rows = store.writer.write(move |batch| {
        let written = batch.database.connection.total_changes();
        let mut open = Open::new(&batch.database, &mut batch.accounts, batch.now);
        for number in 1..=64 {
            open.answer(&take(&both, number), &batch.shared.options.counts)?
                .unwrap();
        }
        open.answer(&give(&both, 64), &batch.shared.options.counts)?.unwrap();
        batch.write_accounts()?;
        Ok(batch.database.connection.total_changes() - written)
    });
    assert_eq!(rows.await, Ok(63 + 2 + 2), "a row for each hold, number and account");
    let found = answers(&store, vec![read(both[1])]).await;
    let Ok(LedgerAnswer::Account(view)) = &found[0] else {
        panic!("{found:?}");
    };
    assert_eq!(view.meters, BTreeMap::from([(SLOTS, Numbers { used: 0, held: 63 })]));
}

/// Names with the moment they took their place, oldest first.
type Plain = Vec<(String, u64)>;

/// Compares a log with a plain list, over many random moves.
#[test]
fn a_log_with_gaps_counts_like_a_list() {
    let connection = Connection::open_in_memory().unwrap();
    create_tables(&connection).unwrap();
    let database = Database::new(&connection);
    let (mut log, mut plain, mut random) = (Log::default(), Plain::new(), 1_u64);
    let mut below = |end: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % end
    };
    for now in 1..3_000_u64 {
        let reading = Reading {
            database: &database,
            account: "budget:one",
            now: Timestamp::from_millis(now),
        };
        let (name, age) = (format!("name-{}", below(60)), Duration::from_millis(below(80)));
        let edge = now.saturating_sub(age.as_millis());
        match below(8) {
            0 => {
                reading.forget(&mut log, age).unwrap();
                plain.retain(|(_, at)| *at > edge);
            }
            1 | 2 => {
                reading.put(&mut log, &name, None).unwrap();
                plain.retain(|(other, _)| *other != name);
            }
            _ => {
                reading.put(&mut log, &name, Some(reading.now)).unwrap();
                plain.retain(|(other, _)| *other != name);
                plain.push((name.clone(), now));
            }
        }
        let younger = plain.iter().filter(|(_, at)| *at > edge).count();
        assert_eq!(reading.count(&log, age), Ok(younger as u64), "at {now}, {log:?}");
        let beside = below(12);
        let wanted = plain.iter().rev().nth(usize::try_from(beside).unwrap());
        let found = reading.behind(&log, beside).unwrap();
        assert_eq!(
            found,
            wanted.map(|(_, at)| Timestamp::from_millis(*at)),
            "at {now}, {log:?}"
        );
        let wanted = plain.iter().find(|(other, _)| *other == name);
        let found = reading.find(&log, &name).unwrap();
        assert_eq!(
            found.map(|(_, at)| at.as_millis()),
            wanted.map(|(_, at)| *at),
            "at {now}"
        );
    }
    assert!(log.first > 100 && log.gaps > 0, "{log:?}");
}
