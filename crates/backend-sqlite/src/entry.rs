//! Lists that records are entered in one by one.

use ff_backend::codec::key;
use ff_backend::transaction::{Moves, Put};
use ff_core::machine::index::{Entry, entries};
use ff_core::partition::Partition;
use ff_core::record::Record;

use crate::batch::Batch;
use crate::database::Database;
use crate::sql::{self, with};

impl Batch<'_> {
    /// Takes a record out of the lists it leaves, and into those it enters.
    pub(crate) fn move_in_lists(&self, partition: Partition, put: &Put) -> rusqlite::Result<()> {
        let Moves { leaves, enters } = put.moves();
        self.leave_lists(&leaves)?;
        if enters.is_empty() {
            return Ok(());
        }
        let key = key::name(&put.record.key());
        for Entry { index, order } in enters {
            self.database.run(with!(sql::PUT_ENTRY,
                name: index.to_string(), sort: order.as_str(), partition: partition.index, key: key))?;
        }
        Ok(())
    }

    /// Takes a record out of lists.
    pub(crate) fn leave_lists(&self, leaves: &[Entry]) -> rusqlite::Result<()> {
        for Entry { index, order } in leaves {
            let entry = with!(sql::DELETE_ENTRY, name: index.to_string(), sort: order.as_str());
            self.database.run(entry)?;
        }
        Ok(())
    }
}

/// The lists that a record should stand in and does not.
pub(crate) fn missing(database: &Database<'_>, partition: Partition, record: &Record) -> rusqlite::Result<Vec<Entry>> {
    let key = key::name(&record.key());
    let mut missing = Vec::new();
    for entry in entries(record) {
        let asked = with!(sql::HAS_ENTRY,
            name: entry.index.to_string(), sort: entry.order.as_str(), partition: partition.index, key: key);
        if database.find(asked, |_| Ok(()))?.is_none() {
            missing.push(entry);
        }
    }
    Ok(missing)
}
