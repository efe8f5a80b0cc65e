//! All records of a partition with the index entries that are kept for them: executions and flows by age, then everything
//! that belongs to them by name. What an idempotency key stands for is in no index, and so not here.

mod entries;

use ff_backend::codec::cursor::Cut;
use ff_backend::codec::key::record_key;
use ff_backend::query::{AuditRow, Rows};
use ff_backend::{Error, Result};
use ff_core::partition::{Family, Partition};
use ff_core::record::RecordKey;
use serde::{Deserialize, Serialize};

use super::Found;
use super::reader::Reader;
use super::walk::{ListPosition, Names, Order, Walk};
use crate::keys::{EXECUTIONS, FLOWS, INDEX};

/// How the records of one kind are found.
struct Section {
    set: &'static str,
    order: Order,
    begin: &'static str,
}

const SECTIONS: [Section; 8] = [
    Section::by_age(EXECUTIONS, "execution:"),
    Section::by_age(FLOWS, "flow:"),
    Section::by_name("attempt:"),
    Section::by_name("edge_from:"),
    Section::by_name("gate:"),
    Section::by_name("signal:"),
    Section::by_name("step:"),
    Section::by_name("waitpoint:"),
];

/// How far the audit has come.
#[derive(Serialize, Deserialize)]
struct Progress {
    section: usize,
    position: ListPosition,
}

pub(super) async fn audit(reader: &mut Reader<'_>, partition: Partition, cut: &Cut) -> Found {
    let mut after = cut.after::<Progress>()?;
    let first = after.as_ref().map_or(0, |after| after.section);
    if first >= SECTIONS.len() {
        return Err(Error::InvalidCursor);
    }
    let mut rows: Vec<AuditRow> = Vec::new();
    for (section, of) in SECTIONS.iter().enumerate().skip(first) {
        if partition.family != Family::Flow {
            break;
        }
        let position = after.take().map(|after| after.position);
        let mut walk = of.walk(partition, position.as_ref());
        loop {
            let mut positions = walk.next(reader, cut.limit - rows.len()).await?;
            let keys = positions
                .iter()
                .map(|position| of.record_key(partition, &position.name));
            let keys: Vec<RecordKey> = keys.collect::<Result<_>>()?;
            let Some(position) = positions.pop() else { break };
            rows.extend(entries::audited(reader, partition, keys).await?);
            if rows.len() == cut.limit {
                let next = cut.cursor(&Progress { section, position });
                return Ok((Rows::Audit(rows), Some(next)));
            }
        }
    }
    Ok((Rows::Audit(rows), None))
}

impl Section {
    const fn by_age(set: &'static str, begin: &'static str) -> Self {
        Self {
            set,
            order: Order::Ascending,
            begin,
        }
    }

    const fn by_name(begin: &'static str) -> Self {
        Self {
            set: INDEX,
            order: Order::ByName,
            begin,
        }
    }

    fn walk(&self, partition: Partition, after: Option<&ListPosition>) -> Walk {
        let sets = [(partition, self.set.to_owned())];
        Walk::new(sets, self.order, Names::of_records(self.begin), after)
    }

    fn record_key(&self, partition: Partition, name: &str) -> Result<RecordKey> {
        let name = match (self.begin, name.rsplit_once(':')) {
            // An edge is listed under the execution it comes from.
            ("edge_from:", Some((_, id))) => format!("edge:{id}"),
            (begin, _) => format!("{begin}{name}"),
        };
        Ok(record_key(partition, &name)?)
    }
}
