//! All records of a partition, with what is kept for them.

use std::ops::Bound;

use ff_core::machine::index::entries;
use ff_core::partition::Partition;
use ff_core::record::RecordKey;

use super::super::store::{Store, Stored};
use super::{Cut, Found};
use crate::Error;
use crate::codec::key::{name, record_key};
use crate::due::DueKey;
use crate::query::{AuditRow, Rows};

impl Store {
    pub(super) fn list_audit(&self, partition: Partition, cut: &Cut) -> Found {
        let after = cut.after::<String>()?.map(|name| record_key(partition, &name));
        let after = after.transpose().map_err(|_| Error::InvalidCursor)?;
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let found = self.partitions.get(&partition).into_iter();
        let records = found.flat_map(|found| found.records.range((start.clone(), Bound::Unbounded)));
        let (rows, next) =
            cut.page(records.map(|(key, stored)| (name(key), Some(self.audit_row(partition, key, stored)))))?;
        Ok((Rows::Audit(rows), next))
    }

    fn audit_row(&self, partition: Partition, key: &RecordKey, stored: &Stored) -> AuditRow {
        let agenda = self.agendas.get(&partition);
        let listed = entries(&stored.record).into_iter();
        AuditRow {
            record: stored.record.clone(),
            queue: stored.queue.clone(),
            due_at: agenda.and_then(|agenda| agenda.timers.get(&DueKey::Record(key.clone()))),
            missing: listed.filter(|entry| !self.lists.has(entry, key)).collect(),
        }
    }
}
