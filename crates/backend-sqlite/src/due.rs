//! What needs attention.

use ff_backend::codec::key::record_key;
use ff_backend::due::{Due, DueItem, DueKey, DuePage};
use ff_backend::hint::Hint;
use ff_core::partition::{Family, Partition};
use ff_core::record::RecordKey;
use ff_core::time::{Timestamp, earliest};
use rusqlite::{Connection, Row};

use crate::batch::Batch;
use crate::error::corrupt;
use crate::key::execution_id;
use crate::record::to_json;

/// What is due in the partitions asked for, and when the next thing will be.
pub(crate) fn page(connection: &Connection, ask: &Due, now: Timestamp) -> rusqlite::Result<DuePage> {
    let search = Search {
        connection,
        now,
        limit: ask.limit,
    };
    let (mut found, mut next) = (Vec::new(), Vec::new());
    for family in [Family::Flow, Family::Budget, Family::Quota] {
        let asked = ask.partitions.iter().filter(|partition| partition.family == family);
        let indexes: Vec<u16> = asked.map(|partition| partition.index).collect();
        if indexes.is_empty() {
            continue;
        }
        let indexes = to_json(&indexes)?;
        found.extend(search.family(family, &indexes)?);
        next.push(search.next(family, &indexes)?);
    }
    Ok(DuePage::of(now, found, ask.limit, earliest(next)))
}

struct Search<'c> {
    connection: &'c Connection,
    now: Timestamp,
    limit: usize,
}

type Read = fn(&Row<'_>) -> rusqlite::Result<(Partition, DueKey)>;

impl Search<'_> {
    fn family(&self, family: Family, indexes: &str) -> rusqlite::Result<Vec<DueItem>> {
        let mut items = Vec::new();
        for (sql, read) in sources(family) {
            items.extend(self.source(sql, indexes, *read)?);
        }
        Ok(items)
    }

    /// One more than asked for, so that the caller can tell when there is more.
    fn source(&self, sql: &str, indexes: &str, read: Read) -> rusqlite::Result<Vec<DueItem>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map((self.now.as_millis(), indexes, self.limit + 1), |row| {
            let (partition, key) = read(row)?;
            Ok(DueItem {
                partition,
                key,
                due_at: Timestamp::from_millis(row.get(0)?),
            })
        })?;
        rows.collect()
    }

    fn next(&self, family: Family, indexes: &str) -> rusqlite::Result<Option<Timestamp>> {
        let sql = match family {
            Family::Flow => include_str!("../sql/next_due_in_flows.sql"),
            Family::Budget => include_str!("../sql/next_due_in_budgets.sql"),
            Family::Quota => include_str!("../sql/next_due_in_quotas.sql"),
        };
        let mut statement = self.connection.prepare_cached(sql)?;
        let at: Option<u64> = statement.query_row((self.now.as_millis(), indexes), |row| row.get(0))?;
        Ok(at.map(Timestamp::from_millis))
    }
}

const fn sources(family: Family) -> &'static [(&'static str, Read)] {
    match family {
        Family::Flow => &[
            (include_str!("../sql/due_executions.sql"), execution),
            (include_str!("../sql/due_waitpoints.sql"), waitpoint),
            (include_str!("../sql/due_flows.sql"), flow),
            (include_str!("../sql/due_nudges.sql"), nudge),
        ],
        Family::Budget => &[(include_str!("../sql/due_budgets.sql"), budget)],
        Family::Quota => &[(include_str!("../sql/due_quotas.sql"), quota)],
    }
}

fn execution(row: &Row<'_>) -> rusqlite::Result<(Partition, DueKey)> {
    let id = execution_id(row.get_ref(1)?.as_str()?, row.get(2)?)?;
    Ok((id.partition(), DueKey::Record(RecordKey::Execution(id))))
}

fn waitpoint(row: &Row<'_>) -> rusqlite::Result<(Partition, DueKey)> {
    let id = execution_id(row.get_ref(1)?.as_str()?, row.get(2)?)?;
    let waitpoint_id = row.get_ref(3)?.as_str()?.parse().map_err(corrupt)?;
    Ok((id.partition(), DueKey::Record(RecordKey::Waitpoint(id, waitpoint_id))))
}

fn flow(row: &Row<'_>) -> rusqlite::Result<(Partition, DueKey)> {
    let flow_id = row.get_ref(1)?.as_str()?.parse().map_err(corrupt)?;
    Ok((Partition::flow(row.get(2)?), DueKey::Record(RecordKey::Flow(flow_id))))
}

fn nudge(row: &Row<'_>) -> rusqlite::Result<(Partition, DueKey)> {
    let partition = Partition::flow(row.get(2)?);
    let key = record_key(partition, row.get_ref(1)?.as_str()?).map_err(corrupt)?;
    Ok((partition, DueKey::Record(key)))
}

fn budget(row: &Row<'_>) -> rusqlite::Result<(Partition, DueKey)> {
    let budget_id = row.get_ref(1)?.as_str()?.parse().map_err(corrupt)?;
    Ok((Partition::budget(row.get(2)?), DueKey::Budget(budget_id)))
}

fn quota(row: &Row<'_>) -> rusqlite::Result<(Partition, DueKey)> {
    let quota_policy_id = row.get_ref(1)?.as_str()?.parse().map_err(corrupt)?;
    Ok((Partition::quota(row.get(2)?), DueKey::Quota(quota_policy_id)))
}

impl Batch<'_> {
    /// Sends a hint when something of the partition is due earlier than anything announced before that has not come yet.
    pub(crate) fn note_due(&mut self, partition: Partition, due_at: Option<Timestamp>) {
        let Some(at) = due_at else { return };
        let now = self.now;
        let head = self.state.due_heads.get(&partition).filter(|head| !head.has_come(now));
        if head.is_none_or(|head| at < *head) {
            self.state.due_heads.insert(partition, at);
            self.hint(Hint::Due { partition, at });
        }
    }
}
