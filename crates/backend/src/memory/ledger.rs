//! Accounts, each with its parts in maps.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ops::Bound;

use ff_core::id::{EffectId, GrantId};
use ff_core::ledger::{
    AccountKey, AccountKind, Head, Hold, Identity, LedgerAnswer, LedgerCall, Meter, Numbers, ReadHolds,
};
use ff_core::limits::PAGE_MAX;
use ff_core::name::Namespace;
use ff_core::partition::Partition;
use ff_core::record::UsageIdentity;
use ff_core::time::{Duration, Timestamp};

use super::list::{Cut, Found};
use super::store::Store;
use crate::due::DueKey;
use crate::hint::Hint;
use crate::ledger::{Books, LedgerReply, apply};
use crate::query::Rows;

/// All accounts.
#[derive(Clone, Default)]
pub(super) struct Accounts(BTreeMap<AccountKey, Account>);

#[derive(Clone, Default)]
struct Account {
    head: Option<Head>,
    meters: BTreeMap<Meter, Numbers>,
    holds: BTreeMap<GrantId, Hold>,
    refused: BTreeMap<GrantId, Timestamp>,
    remembered: BTreeMap<UsageIdentity, (Option<EffectId>, Timestamp)>,
    places: Places,
}

/// Names with their places, also by age.
#[derive(Clone, Default)]
struct Places {
    taken_at: BTreeMap<String, Timestamp>,
    by_age: BTreeSet<(Timestamp, String)>,
}

impl Store {
    /// One step of the ledger.
    pub(super) fn ledger(&mut self, call: &LedgerCall) -> LedgerReply {
        let answer = match call.partition(&self.counts) {
            Some(partition) => self.change_accounts(call, partition),
            None => LedgerAnswer::Malformed,
        };
        LedgerReply {
            now: self.now,
            generation: self.generation,
            answer,
        }
    }

    /// Whatever a call does to the timers and generations of accounts is known to others afterwards.
    fn change_accounts(&mut self, call: &LedgerCall, partition: Partition) -> LedgerAnswer {
        let accounts = call.accounts();
        let before: Vec<_> = accounts.iter().map(|account| self.accounts.state(*account)).collect();
        let mut open = Open {
            accounts: &mut self.accounts,
            now: self.now,
        };
        let Ok(answer) = apply(&mut open, call);
        for (account, before) in accounts.into_iter().zip(before) {
            let (generation, due_at) = self.accounts.state(account);
            if before.0.is_some_and(|before| Some(before) != generation) {
                self.hints.note(Hint::Cause(account));
            }
            self.schedule(partition, DueKey::Account(account), due_at);
            // Whoever asks for what is not there leaves nothing behind.
            self.accounts.drop_if_absent(account);
        }
        answer
    }

    /// Accounts that the lists of a namespace show.
    pub(super) fn list_accounts(&self, kind: AccountKind, namespace: &Namespace, cut: &Cut) -> Found {
        let is_listed = |(key, account): (&AccountKey, &Account)| {
            let shown = account.head.as_ref().and_then(|head| head.listed_in.as_ref());
            key.kind() == kind && shown == Some(namespace)
        };
        let accounts = self.accounts.0.range((cut.start::<AccountKey>()?, Bound::Unbounded));
        let rows = accounts.map(|(key, account)| (key, is_listed((key, account)).then_some(*key)));
        let (rows, next) = cut.page(rows)?;
        Ok((Rows::Accounts(rows), next))
    }
}

impl Accounts {
    fn drop_if_absent(&mut self, account: AccountKey) {
        if self.0.get(&account).is_some_and(|found| found.head.is_none()) {
            self.0.remove(&account);
        }
    }

    /// The generation of an account and when it is looked at.
    fn state(&self, account: AccountKey) -> (Option<i64>, Option<Timestamp>) {
        let head = self.0.get(&account).and_then(|account| account.head.as_ref());
        (head.map(|head| head.generation), head.and_then(|head| head.due.at))
    }
}

/// The accounts at a moment.
struct Open<'s> {
    accounts: &'s mut Accounts,
    now: Timestamp,
}

impl Open<'_> {
    fn account(&mut self, key: AccountKey) -> &mut Account {
        self.accounts.0.entry(key).or_default()
    }
}

impl Places {
    fn put(&mut self, name: &str, at: Option<Timestamp>) {
        if let Some(before) = self.taken_at.remove(name) {
            self.by_age.remove(&(before, name.to_owned()));
        }
        if let Some(at) = at {
            self.taken_at.insert(name.to_owned(), at);
            self.by_age.insert((at, name.to_owned()));
        }
    }

    /// From the youngest on.
    fn younger_than(&self, age: Duration, now: Timestamp) -> impl Iterator<Item = &(Timestamp, String)> {
        self.by_age
            .iter()
            .rev()
            .take_while(move |(at, _)| !(*at + age).has_come(now))
    }
}

impl Books for Open<'_> {
    type Error = Infallible;

    fn now(&self) -> Timestamp {
        self.now
    }

    fn head(&mut self, account: AccountKey) -> Result<Option<Head>, Infallible> {
        Ok(self.account(account).head.clone())
    }

    fn put_head(&mut self, account: AccountKey, head: Head) -> Result<(), Infallible> {
        self.account(account).head = Some(head);
        Ok(())
    }

    fn meter(&mut self, account: AccountKey, meter: &Meter) -> Result<Option<Numbers>, Infallible> {
        Ok(self.account(account).meters.get(meter).copied())
    }

    fn put_meter(&mut self, account: AccountKey, meter: &Meter, numbers: Option<Numbers>) -> Result<(), Infallible> {
        let meters = &mut self.account(account).meters;
        match numbers {
            Some(numbers) => meters.insert(meter.clone(), numbers),
            None => meters.remove(meter),
        };
        Ok(())
    }

    fn all_meters(&mut self, account: AccountKey) -> Result<BTreeMap<Meter, Numbers>, Infallible> {
        Ok(self.account(account).meters.clone())
    }

    fn count_spent(&mut self, account: AccountKey) -> Result<usize, Infallible> {
        let names = self.account(account).meters.keys();
        Ok(names.filter(|meter| matches!(meter, Meter::Spent(_))).count())
    }

    fn clear_spent(&mut self, account: AccountKey) -> Result<(), Infallible> {
        self.account(account).meters.retain(|meter, numbers| {
            let is_spent = matches!(meter, Meter::Spent(_));
            if is_spent {
                numbers.used = 0;
            }
            !is_spent || numbers.held != 0
        });
        Ok(())
    }

    fn hold(&mut self, account: AccountKey, grant: GrantId) -> Result<Option<Hold>, Infallible> {
        Ok(self.account(account).holds.get(&grant).cloned())
    }

    fn put_hold(&mut self, account: AccountKey, hold: Hold) -> Result<(), Infallible> {
        self.account(account).holds.insert(hold.grant, hold);
        Ok(())
    }

    fn drop_hold(&mut self, account: AccountKey, grant: GrantId) -> Result<(), Infallible> {
        self.account(account).holds.remove(&grant);
        Ok(())
    }

    fn holds(&mut self, ask: &ReadHolds) -> Result<Vec<Hold>, Infallible> {
        let (now, from) = (self.now, ask.after.map_or(Bound::Unbounded, Bound::Excluded));
        let holds = self.account(ask.account).holds.range((from, Bound::Unbounded));
        let old = holds.filter(|(_, hold)| (hold.taken_at + ask.older_than).has_come(now));
        let limit = ask.limit.clamp(1, PAGE_MAX);
        Ok(old.take(limit).map(|(_, hold)| hold.clone()).collect())
    }

    fn is_refused(&mut self, account: AccountKey, grant: GrantId) -> Result<bool, Infallible> {
        let now = self.now;
        let until = self.account(account).refused.get(&grant).copied();
        Ok(until.is_some_and(|until| !until.has_come(now)))
    }

    fn refuse(&mut self, account: AccountKey, grant: GrantId, until: Timestamp) -> Result<(), Infallible> {
        let now = self.now;
        let refused = &mut self.account(account).refused;
        refused.retain(|_, until| !until.has_come(now));
        refused.insert(grant, until);
        Ok(())
    }

    fn remembered(
        &mut self,
        account: AccountKey,
        identity: &UsageIdentity,
    ) -> Result<Option<Option<EffectId>>, Infallible> {
        let now = self.now;
        let remembered = self.account(account).remembered.get(identity);
        let lasts = remembered.filter(|(_, until)| !until.has_come(now));
        Ok(lasts.map(|(bearer, _)| *bearer))
    }

    fn remember(
        &mut self,
        account: AccountKey,
        identity: &Identity,
        bearer: Option<EffectId>,
    ) -> Result<(), Infallible> {
        let until = self.now + identity.remembered;
        let remembered = &mut self.account(account).remembered;
        remembered.insert(identity.identity.clone(), (bearer, until));
        Ok(())
    }

    fn place(&mut self, account: AccountKey, name: &str) -> Result<Option<Timestamp>, Infallible> {
        Ok(self.account(account).places.taken_at.get(name).copied())
    }

    fn put_place(&mut self, account: AccountKey, name: &str, at: Option<Timestamp>) -> Result<(), Infallible> {
        self.account(account).places.put(name, at);
        Ok(())
    }

    fn drop_places(&mut self, account: AccountKey, age: Duration) -> Result<(), Infallible> {
        let now = self.now;
        let places = &mut self.account(account).places;
        while let Some((at, name)) = places.by_age.first().cloned()
            && (at + age).has_come(now)
        {
            places.put(&name, None);
        }
        Ok(())
    }

    fn count_places(&mut self, account: AccountKey, age: Duration) -> Result<u64, Infallible> {
        let now = self.now;
        Ok(self.account(account).places.younger_than(age, now).count() as u64)
    }

    fn place_behind(&mut self, account: AccountKey, younger: u64) -> Result<Option<Timestamp>, Infallible> {
        let nth = usize::try_from(younger).unwrap_or(usize::MAX);
        let places = &self.account(account).places;
        Ok(places.by_age.iter().rev().nth(nth).map(|(at, _)| *at))
    }
}

#[cfg(test)]
mod tests {
    use ff_core::id::BudgetId;
    use ff_core::ledger::{Give, Read, ReadMeters};
    use ff_core::partition::PartitionCounts;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn asking_for_an_account_that_is_not_there_leaves_nothing() {
        let mut store = Store::new(Timestamp::from_millis(1), PartitionCounts::default());
        let account = AccountKey::Budget(BudgetId::from_uuid(Uuid::from_u128(1)));
        let calls = [
            LedgerCall::Read(Read {
                account,
                meters: ReadMeters::All,
                places: Vec::new(),
            }),
            LedgerCall::Give(Give {
                path: vec![account],
                grant: GrantId::from_uuid(Uuid::from_u128(2)),
                undo: false,
                back: Vec::new(),
            }),
            LedgerCall::Holds(ReadHolds {
                account,
                older_than: Duration::ZERO,
                after: None,
                limit: 1,
            }),
        ];
        for call in calls {
            store.ledger(&call);
            assert!(store.accounts.0.is_empty(), "{call:?}");
        }
    }
}
