//! What the arithmetic asks for.

use std::collections::{BTreeMap, BTreeSet};

use ff_backend::ledger::Books;
use ff_core::id::{EffectId, GrantId};
use ff_core::ledger::{AccountKey, Head, Hold, Identity, Meter, Numbers, ReadHolds};
use ff_core::record::UsageIdentity;
use ff_core::time::{Duration, Timestamp};

use super::holds;
use super::kept::{Account, Accounts, Row};
use super::log::{Log, Reading};
use super::rows::{self, Seen};
use crate::database::Database;

/// Names of numbers that begin again with their account, and names of all: from one on and before another.
const SPENT: (&str, &str) = ("spent:", "spent;");
const ALL: (&str, &str) = ("", "\u{10ffff}");

/// The accounts of a batch at its moment, in the transaction that a connection has open.
pub(super) struct Open<'b, 'c> {
    database: &'b Database<'c>,
    accounts: &'b mut Accounts,
    pub(super) now: Timestamp,
    /// The accounts the present call has met.
    met: BTreeSet<AccountKey>,
    /// What the present call adds to logs and to what is remembered. It looks at neither afterwards, so this waits until
    /// the call is known to succeed.
    later: Vec<(AccountKey, Later)>,
}

/// Something that is written once the call has succeeded.
enum Later {
    Place { name: String, at: Option<Timestamp> },
    DropPlaces(Duration),
    Remember(Seen),
}

impl<'b, 'c> Open<'b, 'c> {
    pub(super) const fn new(database: &'b Database<'c>, accounts: &'b mut Accounts, now: Timestamp) -> Self {
        Self {
            database,
            accounts,
            now,
            met: BTreeSet::new(),
            later: Vec::new(),
        }
    }

    /// The call has succeeded.
    pub(super) fn keep(&mut self) -> rusqlite::Result<()> {
        for (key, later) in std::mem::take(&mut self.later) {
            match later {
                Later::Place { name, at } => self.log(key, |reading, log| reading.put(log, &name, at))?,
                Later::DropPlaces(age) => self.log(key, |reading, log| reading.forget(log, age))?,
                Later::Remember(seen) => rows::put_seen(self.database, &self.accounts.of(key).name, &seen)?,
            }
        }
        for key in std::mem::take(&mut self.met) {
            self.accounts.of(key).keep();
        }
        Ok(())
    }

    /// The call has failed: everything is as it was before.
    pub(super) fn take_back(&mut self) {
        self.later.clear();
        for key in std::mem::take(&mut self.met) {
            self.accounts.of(key).take_back();
        }
    }

    /// Looks at the log of an account, or changes it. One that is not there has none.
    fn log<T: Default>(
        &mut self,
        key: AccountKey,
        look: impl FnOnce(&Reading<'_, '_>, &mut Log) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let now = self.now;
        let (account, database) = self.account(key);
        let name = account.name.clone();
        let Some(row) = account.row(database)? else {
            return Ok(T::default());
        };
        let reading = Reading {
            database,
            account: &name,
            now,
        };
        look(&reading, &mut row.log)
    }

    fn account(&mut self, key: AccountKey) -> (&mut Account, &'b Database<'c>) {
        self.met.insert(key);
        (self.accounts.of(key), self.database)
    }

    fn write_later(&mut self, key: AccountKey, later: Later) -> rusqlite::Result<()> {
        // Nothing that is written then may fail to be read.
        let (account, database) = self.account(key);
        account.row(database)?;
        self.later.push((key, later));
        Ok(())
    }

    fn find_name(&mut self, account: AccountKey, name: &str) -> rusqlite::Result<Option<Option<EffectId>>> {
        let now = self.now;
        let (account, database) = self.account(account);
        rows::find_seen(database, &account.name, (name, now))
    }

    /// The numbers that begin again with their account.
    fn spent(&mut self, account: AccountKey) -> rusqlite::Result<Vec<(Meter, Numbers)>> {
        let (account, database) = self.account(account);
        account.read_meters(database, SPENT)?;
        let spent = account.meters.there();
        let spent = spent.filter(|(meter, _)| matches!(meter, Meter::Spent(_)));
        Ok(spent.map(|(meter, numbers)| (meter.clone(), *numbers)).collect())
    }
}

impl Books for Open<'_, '_> {
    type Error = rusqlite::Error;

    fn now(&self) -> Timestamp {
        self.now
    }

    fn head(&mut self, account: AccountKey) -> rusqlite::Result<Option<Head>> {
        let (account, database) = self.account(account);
        let row = account.row(database)?;
        Ok(row.as_ref().map(|row| row.head.clone()))
    }

    fn put_head(&mut self, account: AccountKey, head: Head) -> rusqlite::Result<()> {
        let (account, database) = self.account(account);
        let row = account.row(database)?.as_ref();
        let log = row.map(|row| row.log).unwrap_or_default();
        account.row.replace((), Some(Row { head, log }));
        Ok(())
    }

    fn meter(&mut self, account: AccountKey, meter: &Meter) -> rusqlite::Result<Option<Numbers>> {
        let (account, database) = self.account(account);
        account.meter(database, meter)
    }

    fn put_meter(&mut self, account: AccountKey, meter: &Meter, numbers: Option<Numbers>) -> rusqlite::Result<()> {
        let (account, database) = self.account(account);
        account.meter(database, meter)?;
        account.meters.replace(meter.clone(), numbers);
        Ok(())
    }

    fn all_meters(&mut self, account: AccountKey) -> rusqlite::Result<BTreeMap<Meter, Numbers>> {
        let (account, database) = self.account(account);
        account.read_meters(database, ALL)?;
        let meters = account.meters.there();
        Ok(meters.map(|(meter, numbers)| (meter.clone(), *numbers)).collect())
    }

    fn count_spent(&mut self, account: AccountKey) -> rusqlite::Result<usize> {
        Ok(self.spent(account)?.len())
    }

    fn clear_spent(&mut self, account: AccountKey) -> rusqlite::Result<()> {
        for (meter, Numbers { held, .. }) in self.spent(account)? {
            let left = Numbers { used: 0, held };
            let left = Some(left).filter(|left| left.held != 0);
            self.accounts.of(account).meters.replace(meter, left);
        }
        Ok(())
    }

    fn hold(&mut self, account: AccountKey, grant: GrantId) -> rusqlite::Result<Option<Hold>> {
        let (account, database) = self.account(account);
        account.hold(database, grant)
    }

    fn put_hold(&mut self, account: AccountKey, hold: Hold) -> rusqlite::Result<()> {
        let (account, database) = self.account(account);
        account.hold(database, hold.grant)?;
        account.holds.replace(hold.grant, Some(hold));
        Ok(())
    }

    fn drop_hold(&mut self, account: AccountKey, grant: GrantId) -> rusqlite::Result<()> {
        let (account, database) = self.account(account);
        account.hold(database, grant)?;
        account.holds.replace(grant, None);
        Ok(())
    }

    fn holds(&mut self, ask: &ReadHolds) -> rusqlite::Result<Vec<Hold>> {
        let now = self.now;
        let (account, database) = self.account(ask.account);
        account.write_holds(database)?;
        holds::load_all(database, &account.name, (ask, now))
    }

    fn is_refused(&mut self, account: AccountKey, grant: GrantId) -> rusqlite::Result<bool> {
        Ok(self.find_name(account, &refused(grant))?.is_some())
    }

    fn refuse(&mut self, account: AccountKey, grant: GrantId, until: Timestamp) -> rusqlite::Result<()> {
        let (name, bearer) = (refused(grant), None);
        self.write_later(account, Later::Remember(Seen { name, bearer, until }))
    }

    fn remembered(
        &mut self,
        account: AccountKey,
        identity: &UsageIdentity,
    ) -> rusqlite::Result<Option<Option<EffectId>>> {
        self.find_name(account, &identity.to_string())
    }

    fn remember(&mut self, account: AccountKey, identity: &Identity, bearer: Option<EffectId>) -> rusqlite::Result<()> {
        let (name, until) = (identity.identity.to_string(), self.now + identity.remembered);
        self.write_later(account, Later::Remember(Seen { name, bearer, until }))
    }

    fn place(&mut self, account: AccountKey, name: &str) -> rusqlite::Result<Option<Timestamp>> {
        self.log(account, |reading, log| {
            let found = reading.find(log, name)?;
            Ok(found.map(|(_, taken_at)| taken_at))
        })
    }

    fn put_place(&mut self, account: AccountKey, name: &str, at: Option<Timestamp>) -> rusqlite::Result<()> {
        let name = name.to_owned();
        self.write_later(account, Later::Place { name, at })
    }

    fn drop_places(&mut self, account: AccountKey, age: Duration) -> rusqlite::Result<()> {
        self.write_later(account, Later::DropPlaces(age))
    }

    fn count_places(&mut self, account: AccountKey, age: Duration) -> rusqlite::Result<u64> {
        self.log(account, |reading, log| reading.count(log, age))
    }

    fn place_behind(&mut self, account: AccountKey, younger: u64) -> rusqlite::Result<Option<Timestamp>> {
        self.log(account, |reading, log| reading.behind(log, younger))
    }
}

/// What a grant is remembered by while it is refused. No identity is written like this.
fn refused(grant: GrantId) -> String {
    format!("grant:{grant}")
}
