//! Counters: those of one record stand together, and are written once for all the calls of a batch that move them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ff_backend::codec::counter;
use ff_core::partition::Partition;
use ff_core::record::CounterKey;

use crate::batch::Batch;
use crate::column::{from_json, text, to_json};
use crate::database::Database;
use crate::sql::{self, with};

/// The counters of one record, by name.
type Counts = BTreeMap<String, i64>;

/// Counters by the record they belong to, as far as somebody has asked for them.
#[derive(Default)]
pub(crate) struct Counters(BTreeMap<(u16, String), Met>);

#[derive(Default)]
struct Met {
    counts: Counts,
    has_moved: bool,
}

impl Counters {
    /// A counter as it stands; one that was never moved is 0.
    pub(crate) fn read(
        &mut self,
        database: &Database<'_>,
        partition: Partition,
        key: CounterKey,
    ) -> rusqlite::Result<i64> {
        let (owner, name) = counter::name(key);
        let met = self.meet(database, partition, owner)?;
        Ok(met.counts.get(&name).copied().unwrap_or(0))
    }

    fn meet(&mut self, database: &Database<'_>, partition: Partition, owner: String) -> rusqlite::Result<&mut Met> {
        match self.0.entry((partition.index, owner)) {
            Entry::Occupied(met) => Ok(met.into_mut()),
            Entry::Vacant(new) => {
                let asked = with!(sql::LOAD_COUNTERS, partition: partition.index, owner: new.key().1);
                let counts = database.find(asked, |row| from_json(text(row, 0)?))?;
                Ok(new.insert(Met {
                    counts: counts.unwrap_or_default(),
                    has_moved: false,
                }))
            }
        }
    }
}

impl Batch<'_> {
    /// Moves counters and answers their new values.
    pub(crate) fn move_counters(
        &mut self,
        partition: Partition,
        increments: &[(CounterKey, i64)],
    ) -> rusqlite::Result<Vec<(CounterKey, i64)>> {
        let mut moved = Vec::with_capacity(increments.len());
        for (key, by) in increments {
            let (owner, name) = counter::name(*key);
            let met = self.counters.meet(&self.database, partition, owner)?;
            let value = met.counts.entry(name).or_default();
            *value += by;
            moved.push((*key, *value));
            met.has_moved = true;
        }
        Ok(moved)
    }

    /// Forgets the counters of a record.
    pub(crate) fn delete_counters(&mut self, partition: u16, owner: &str) -> rusqlite::Result<()> {
        self.counters.0.remove(&(partition, owner.to_owned()));
        self.database
            .run(with!(sql::DELETE_COUNTERS, partition: partition, owner: owner))
    }

    /// Writes the counters that have moved.
    pub(crate) fn write_counters(&mut self) -> rusqlite::Result<()> {
        for ((partition, owner), met) in std::mem::take(&mut self.counters).0 {
            if met.has_moved {
                self.database.run(with!(sql::PUT_COUNTERS,
                    partition: partition, owner: owner, counts: to_json(&met.counts)?))?;
            }
        }
        Ok(())
    }
}
