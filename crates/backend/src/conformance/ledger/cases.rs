//! What random calls do not try: calls that contradict themselves, lists and hints.

use ff_core::id::{BudgetId, ExecutionId, GrantId, QuotaPolicyId};
use ff_core::ledger::{
    AccountKey, AccountKind, Amend, Bound, Draw, Entry, Expected, Floor, Give, LedgerAnswer, LedgerCall, Meter, Move,
    Moved, Number, PATH_MAX, Take, TakeKind, Use,
};
use ff_core::name::Namespace;
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use super::super::build::Store;
use super::Asked;
use crate::hint::Hint;
use crate::query::{Listing, Query};

/// A new account, listed in a namespace.
async fn created<'s>(store: &'s Store<'s>, account: AccountKey, namespace: &str) -> Asked<'s> {
    let asked = Asked { store, account };
    let amend = Amend {
        body: Some("{}".to_owned()),
        listed: Some(Some(Namespace::parse(namespace).expect("a namespace"))),
        ..Amend::new(account, Expected::Absent)
    };
    asked.amend(amend).await;
    asked
}

fn budget(store: &Store<'_>) -> AccountKey {
    AccountKey::Budget(BudgetId::from_uuid(store.uuid()))
}

fn slot(at: usize, meter: &'static str) -> Entry {
    Entry::Number(Number {
        at,
        meter: Meter::own(meter),
        kind: TakeKind::Held,
        floor: Floor::None,
        delta: 1,
        bound: Bound::Free,
    })
}

fn take(store: &Store<'_>, path: Vec<(AccountKey, u64)>, tiers: Vec<Vec<Entry>>) -> Take {
    Take {
        path,
        grant: GrantId::from_uuid(store.uuid()),
        holder: ExecutionId::new(0, store.uuid()),
        instead_of: None,
        tiers,
        mark: None,
    }
}

/// An account in another partition than `other`.
fn elsewhere(store: &Store<'_>, other: AccountKey) -> AccountKey {
    let counts = store.counts();
    let mut accounts = std::iter::repeat_with(|| budget(store));
    let is_elsewhere = |account: &AccountKey| account.partition(&counts) != other.partition(&counts);
    accounts.find(is_elsewhere).expect("there are several partitions")
}

pub(in crate::conformance) async fn malformed_calls_are_refused_and_do_nothing(store: &Store<'_>) {
    let account = budget(store);
    let asked = created(store, account, "mine").await;
    let before = asked.read().await.1.expect("the account");
    let (own, other) = ((account, before.head.revision), (elsewhere(store, account), 1));
    let entry = || vec![vec![slot(0, "slots")]];
    let spent = |at, amount| Use {
        at,
        meter: Meter::own("spent"),
        amount,
        always: true,
    };
    let draw = |spent| Draw {
        path: vec![own],
        grant: None,
        identities: Vec::new(),
        bearer: None,
        uses: vec![spent],
        watches: Vec::new(),
    };
    let give = |path| Give {
        path,
        grant: GrantId::from_uuid(store.uuid()),
        undo: false,
        back: vec![(1, Meter::own("spent"), 1)],
    };
    let malformed = [
        LedgerCall::Take(take(store, Vec::new(), entry())),
        LedgerCall::Take(take(store, vec![own], Vec::new())),
        LedgerCall::Take(take(store, vec![own, own], entry())),
        LedgerCall::Take(take(store, vec![own, other], entry())),
        LedgerCall::Take(take(store, vec![own; PATH_MAX + 1], entry())),
        LedgerCall::Take(take(store, vec![own], vec![vec![slot(1, "slots")]])),
        LedgerCall::Draw(draw(spent(1, 1))),
        LedgerCall::Draw(draw(spent(0, -1))),
        LedgerCall::Draw(draw(spent(0, i64::MAX))),
        LedgerCall::Give(give(vec![account])),
        LedgerCall::Amend(Amend::new(account, Expected::Any)),
    ];
    let replies = store.backend().ledger(malformed.to_vec()).await;
    for (call, reply) in malformed.iter().zip(replies) {
        let answer = reply.expect("the store answers").answer;
        assert_eq!(answer, LedgerAnswer::Malformed, "{call:?}");
    }
    assert_eq!(asked.read().await.1.as_ref(), Some(&before));
}

pub(in crate::conformance) async fn accounts_are_listed_by_key_within_their_namespace(store: &Store<'_>) {
    let mut wanted = Vec::new();
    for number in 0..25 {
        let account = budget(store);
        let namespace = if number % 5 == 0 { "other" } else { "mine" };
        let asked = created(store, account, namespace).await;
        if number % 7 == 0 {
            let unlisted = Amend {
                listed: Some(None),
                ..Amend::new(account, Expected::Any)
            };
            asked.amend(unlisted).await;
        } else if namespace == "mine" {
            wanted.push(account);
        }
    }
    let quota = AccountKey::Quota(QuotaPolicyId::from_uuid(store.uuid()));
    created(store, quota, "mine").await;
    wanted.sort_unstable();
    assert_eq!(listed(store, AccountKind::Budget).await, wanted);
    assert_eq!(listed(store, AccountKind::Quota).await, [quota]);
}

async fn listed(store: &Store<'_>, kind: AccountKind) -> Vec<AccountKey> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let namespace = Namespace::parse("mine").expect("a namespace");
        let of = Listing::Accounts { kind, namespace };
        let page = store.backend().list(Query { of, after, limit: 7 }).await;
        let mut page = page.expect("the store lists");
        after = page.next.take();
        found.extend(page.accounts());
        if after.is_none() {
            return found;
        }
    }
}

pub(in crate::conformance) async fn whoever_waits_is_told_that_a_generation_moved(store: &Store<'_>) {
    let account = budget(store);
    let asked = created(store, account, "mine").await;
    let revision = asked.read().await.1.expect("the account").head.revision;
    let take = take(store, vec![(account, revision)], vec![vec![slot(0, "slots")]]);
    let grant = take.grant;
    asked.call(LedgerCall::Take(take)).await;
    let give = LedgerCall::Give(Give {
        path: vec![account],
        grant,
        undo: false,
        back: Vec::new(),
    });
    let moved = |by| Amend {
        moves: vec![Moved {
            meter: Meter::Generation,
            by,
        }],
        ..Amend::new(account, Expected::Any)
    };
    let restart = Amend {
        restart: true,
        ..Amend::new(account, Expected::Any)
    };
    let amends = [moved(Move::Add(1)), restart].map(|amend| LedgerCall::Amend(asked.tagged(amend)));
    for call in [give].into_iter().chain(amends) {
        let mut hints = store.backend().hints();
        asked.call(call).await;
        store.hinted(&mut hints, |hint| *hint == Hint::Cause(account)).await;
    }
}

pub(in crate::conformance) async fn an_earlier_look_is_hinted(store: &Store<'_>) {
    let account = budget(store);
    let asked = created(store, account, "mine").await;
    let partition = account.partition(&store.counts());
    let later = |now: Timestamp, hours| Some(now + Duration::from_hours(hours));
    for hours in [5, 3, 1] {
        let (now, view) = asked.read().await;
        let stamp = view.expect("the account").head.due.stamp;
        let at = later(now, hours);
        let amend = Amend {
            due: Some((stamp, at)),
            ..Amend::new(account, Expected::Any)
        };
        let mut hints = store.backend().hints();
        asked.amend(amend).await;
        let is_due =
            |hint: &Hint| matches!(hint, Hint::Due { partition: of, at: due } if *of == partition && Some(*due) == at);
        store.hinted(&mut hints, is_due).await;
    }
}

pub(in crate::conformance) async fn calls_of_many_callers_add_up(store: &Store<'_>) {
    let account = budget(store);
    let asked = created(store, account, "mine").await;
    let revision = asked.read().await.1.expect("the account").head.revision;
    let name = |number: u128| Uuid::from_u128(number);
    let take = |number| {
        LedgerCall::Take(Take {
            path: vec![(account, revision)],
            grant: GrantId::from_uuid(name(number)),
            holder: ExecutionId::new(0, name(number)),
            instead_of: None,
            tiers: vec![vec![Entry::Number(Number {
                at: 0,
                meter: Meter::own("slots"),
                kind: TakeKind::Held,
                floor: Floor::None,
                delta: 1,
                bound: Bound::At(20),
            })]],
            mark: None,
        })
    };
    let backend = store.backend();
    let calls = (0..64_u128).map(|number| backend.ledger(vec![take(number % 40)]));
    let replies = futures::future::join_all(calls).await;
    let answers = replies
        .into_iter()
        .flatten()
        .map(|reply| reply.expect("the store answers").answer);
    let taken = answers.filter(|answer| matches!(answer, LedgerAnswer::Taken { again: false, .. }));
    assert_eq!(taken.count(), 20, "no more are taken than there are");
    let view = asked.read().await.1.expect("the account");
    assert_eq!(view.meters[&Meter::own("slots")].held, 20);
}
