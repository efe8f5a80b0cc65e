//! Random calls on the same few accounts.

use ff_backend::ledger::LedgerReply;
use ff_core::id::{BudgetId, ExecutionId, GrantId};
use ff_core::ledger::{
    AccountKey, Amend, Bound, Draw, Entry, Expected, Floor, Give, Identity, LedgerAnswer, LedgerCall, Meter, Number,
    PlaceEntry, Read, ReadMeters, Take, TakeKind, Use,
};
use ff_core::name::{Dimension, IdempotencyKey};
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::record::UsageIdentity;
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use super::luck::Luck;

/// How long all processes try to make the same accounts, in milliseconds of the store's time.
const TOGETHER_MS: u64 = 20;
/// How long names and places are remembered: not for long, so that there is something to clean up.
const REMEMBERED: Duration = Duration::from_millis(1);

/// Four accounts of one partition.
pub(super) fn accounts() -> Vec<AccountKey> {
    let counts = PartitionCounts::default();
    let account = |number| AccountKey::Budget(BudgetId::from_uuid(Uuid::from_u128(number)));
    let is_beside = |other: &AccountKey| other.partition(&counts) == account(1).partition(&counts);
    (1..).map(account).filter(is_beside).take(4).collect()
}

/// What all of these are.
pub(super) fn look(accounts: &[AccountKey]) -> Vec<LedgerCall> {
    let read = |account: &AccountKey| {
        LedgerCall::Read(Read {
            account: *account,
            meters: ReadMeters::All,
            places: Vec::new(),
        })
    };
    accounts.iter().map(read).collect()
}

/// The accounts that are there, each with its revision.
pub(super) fn there(replies: Vec<LedgerReply>) -> Vec<(AccountKey, u64)> {
    let there = replies.into_iter().filter_map(|reply| match reply.answer {
        LedgerAnswer::Account(view) => Some((view.account, view.head.revision)),
        _ => None,
    });
    there.collect()
}

/// Makes accounts, the lasting ones and some that are new for all processes at this moment, in any order.
pub(super) fn creations(luck: &mut Luck, now: Timestamp) -> Vec<LedgerCall> {
    let window = u128::from(now.as_millis() / TOGETHER_MS) << 32;
    let new = (0..4).map(|number| AccountKey::Budget(BudgetId::from_uuid(Uuid::from_u128(window | number))));
    let wanted: Vec<AccountKey> = new.chain(accounts()).collect();
    let made = luck.some(&wanted, 5).into_iter().map(|account| {
        LedgerCall::Amend(Amend {
            tag: (luck.number() >> 12).max(1),
            ..Amend::new(account, Expected::Absent)
        })
    });
    made.collect()
}

/// Calls over paths in any order.
pub(super) fn calls(luck: &mut Luck, there: &[(AccountKey, u64)]) -> Vec<LedgerCall> {
    let count = 1 + luck.below(4);
    (0..count)
        .filter_map(|_| {
            let path = luck.some(there, 3);
            (!path.is_empty()).then(|| call(luck, path))
        })
        .collect()
}

fn call(luck: &mut Luck, path: Vec<(AccountKey, u64)>) -> LedgerCall {
    let grant = GrantId::from_uuid(Uuid::from_u128(luck.below(16) as u128));
    let last = path.len() - 1;
    match luck.below(4) {
        0 => LedgerCall::Give(Give {
            path: path.into_iter().map(|(account, _)| account).collect(),
            grant,
            undo: luck.one_of(2),
            back: Vec::new(),
        }),
        1 => LedgerCall::Draw(Draw {
            path,
            grant: Some(grant),
            identities: vec![name(luck), name(luck)],
            bearer: None,
            uses: vec![Use {
                at: last,
                meter: tokens(),
                amount: 1,
                always: true,
            }],
            watches: Vec::new(),
        }),
        _ => LedgerCall::Take(Take {
            path,
            grant,
            holder: ExecutionId::new(0, Uuid::from_u128(1)),
            instead_of: None,
            tiers: vec![vec![held(0), held(last), place(luck, last)]],
            mark: Some(ff_core::ledger::Mark {
                partition: Partition::flow(0),
                placeless: false,
            }),
        }),
    }
}

fn tokens() -> Meter {
    Meter::Spent(Dimension::parse("tokens").unwrap())
}

fn held(at: usize) -> Entry {
    Entry::Number(Number {
        at,
        meter: tokens(),
        kind: TakeKind::Held,
        floor: Floor::None,
        delta: 1,
        bound: Bound::Free,
    })
}

fn place(luck: &mut Luck, at: usize) -> Entry {
    Entry::Place(PlaceEntry {
        at,
        name: format!("place-{}", luck.below(8)),
        window: REMEMBERED,
        at_most: 1_000,
    })
}

fn name(luck: &mut Luck) -> Identity {
    let key = IdempotencyKey::parse(format!("draw-{}", luck.below(8))).unwrap();
    Identity {
        identity: UsageIdentity::Key(key),
        remembered: REMEMBERED,
    }
}
