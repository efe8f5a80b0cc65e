//! What a batch knows of accounts: as they were read, and as they stand now.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ff_core::id::GrantId;
use ff_core::ledger::{AccountKey, Head, Hold, Meter, Numbers};
use ff_core::partition::Partition;

use super::log::Log;
use super::{holds, rows};
use crate::database::Database;

/// Rows under keys: as they were read, and as they stand now.
#[derive(Debug)]
pub(super) struct Kept<K, V> {
    rows: BTreeMap<K, Known<V>>,
    /// What the present call has replaced, in its order.
    replaced: Vec<(K, Option<V>)>,
}

#[derive(Debug)]
struct Known<V> {
    stored: Option<V>,
    now: Option<V>,
}

/// The row of an account.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) head: Head,
    pub(super) log: Log,
}

/// The accounts a batch has met.
#[derive(Debug, Default)]
pub(crate) struct Accounts(pub(super) BTreeMap<AccountKey, Account>);

/// As much of an account as was asked for.
#[derive(Debug)]
pub(super) struct Account {
    /// Its key as rows name it.
    pub(super) name: String,
    pub(super) row: Kept<(), Row>,
    pub(super) meters: Kept<Meter, Numbers>,
    pub(super) holds: Kept<GrantId, Hold>,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            replaced: Vec::new(),
        }
    }
}

impl<K: Ord + Clone, V: Clone + PartialEq> Kept<K, V> {
    fn get(
        &mut self,
        key: K,
        load: impl FnOnce(&K) -> rusqlite::Result<Option<V>>,
    ) -> rusqlite::Result<&mut Option<V>> {
        let known = match self.rows.entry(key) {
            Entry::Occupied(read) => read.into_mut(),
            Entry::Vacant(unread) => {
                let stored = load(unread.key())?;
                let now = stored.clone();
                unread.insert(Known { stored, now })
            }
        };
        Ok(&mut known.now)
    }

    /// Replaces something that was read.
    pub(super) fn replace(&mut self, key: K, value: Option<V>) {
        if let Some(known) = self.rows.get_mut(&key) {
            self.replaced.push((key, std::mem::replace(&mut known.now, value)));
        }
    }

    /// What was read and is there.
    pub(super) fn there(&self) -> impl Iterator<Item = (&K, &V)> {
        let read = self.rows.iter();
        read.filter_map(|(key, known)| Some((key, known.now.as_ref()?)))
    }

    /// What has changed since it was read or written.
    fn write(&mut self, mut write: impl FnMut(&K, Option<&V>) -> rusqlite::Result<()>) -> rusqlite::Result<()> {
        for (key, known) in self.rows.iter_mut().filter(|(_, known)| known.now != known.stored) {
            write(key, known.now.as_ref())?;
            known.stored.clone_from(&known.now);
        }
        Ok(())
    }

    fn take_back(&mut self) {
        for (key, before) in self.replaced.drain(..).rev() {
            if let Some(known) = self.rows.get_mut(&key) {
                known.now = before;
            }
        }
    }
}

impl Accounts {
    pub(super) fn of(&mut self, key: AccountKey) -> &mut Account {
        self.0.entry(key).or_insert_with(|| Account {
            name: key.to_string(),
            row: Kept::default(),
            meters: Kept::default(),
            holds: Kept::default(),
        })
    }
}

impl Account {
    pub(super) fn row(&mut self, database: &Database<'_>) -> rusqlite::Result<&mut Option<Row>> {
        self.row.get((), |()| rows::load_row(database, &self.name))
    }

    pub(super) fn meter(&mut self, database: &Database<'_>, meter: &Meter) -> rusqlite::Result<Option<Numbers>> {
        let load = |meter: &Meter| rows::load_meter(database, &self.name, meter);
        self.meters.get(meter.clone(), load).map(|numbers| *numbers)
    }

    /// Reads the numbers whose names lie between these two, the second excluded.
    pub(super) fn read_meters(&mut self, database: &Database<'_>, names: (&str, &str)) -> rusqlite::Result<()> {
        for (meter, numbers) in rows::load_meters(database, &self.name, names)? {
            self.meters.get(meter, |_| Ok(Some(numbers)))?;
        }
        Ok(())
    }

    pub(super) fn hold(&mut self, database: &Database<'_>, grant: GrantId) -> rusqlite::Result<Option<Hold>> {
        let load = |grant: &GrantId| holds::load(database, &self.name, *grant);
        self.holds.get(grant, load).map(|hold| hold.clone())
    }

    /// The head as it was read and as it is now.
    pub(super) fn heads(&self) -> Option<(Option<&Head>, &Head)> {
        let known = self.row.rows.get(&())?;
        let now = known.now.as_ref()?;
        Some((known.stored.as_ref().map(|row| &row.head), &now.head))
    }

    /// The call has succeeded: nothing is taken back any more.
    pub(super) fn keep(&mut self) {
        self.row.replaced.clear();
        self.meters.replaced.clear();
        self.holds.replaced.clear();
    }

    /// The call has failed: everything is as it was before.
    pub(super) fn take_back(&mut self) {
        self.row.take_back();
        self.meters.take_back();
        self.holds.take_back();
    }

    /// Writes what has changed.
    pub(super) fn write(&mut self, database: &Database<'_>, partition: Partition) -> rusqlite::Result<()> {
        let name = &self.name;
        self.row.write(|(), row| match row {
            Some(row) => rows::put_row(database, (name, partition), row),
            None => Ok(()),
        })?;
        self.meters
            .write(|meter, numbers| rows::put_meter(database, name, (meter, numbers)))?;
        self.write_holds(database)
    }

    /// Writes holds that have changed, before rows are looked through.
    pub(super) fn write_holds(&mut self, database: &Database<'_>) -> rusqlite::Result<()> {
        let name = &self.name;
        self.holds
            .write(|grant, hold| holds::put(database, name, (*grant, hold)))
    }
}
