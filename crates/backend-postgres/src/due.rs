//! What needs attention.

use ff_backend::Result;
use ff_backend::codec::key::record_key;
use ff_backend::due::{Due, DueItem, DueKey, DuePage};
use ff_core::partition::{Family, Partition};
use postgres_types::FromSql;

use crate::call::call;
use crate::error::corrupt;
use crate::shared::{Shared, moment, number, partition};

/// Something that is due.
#[derive(Debug, FromSql)]
#[postgres(name = "due_row")]
struct DueRow {
    partition: Option<i16>,
    account_partition: Option<String>,
    at: i64,
    key: String,
}

impl Shared {
    /// What is due in the partitions asked for, and when the next thing will be.
    pub(crate) async fn due(&self, ask: Due) -> Result<DuePage> {
        let (flows, accounts): (Vec<Partition>, Vec<_>) =
            ask.partitions.iter().partition(|it| it.family == Family::Flow);
        let flows: Vec<i16> = flows.into_iter().map(number).collect();
        let accounts: Vec<String> = accounts.iter().map(ToString::to_string).collect();
        let (caller, at_most) = (self.caller(), i64::try_from(ask.limit).unwrap_or(i64::MAX - 1));
        let asked = call!(reading due(
            caller: &caller, partitions: &flows, account_partitions: &accounts, at_most: &at_most));
        let row = self.connections.row(asked).await?;
        let now = self.was_told(row.try_get("now").map_err(corrupt)?);
        let found: Vec<DueRow> = row.try_get("answer").map_err(corrupt)?;
        let next: Option<i64> = row.try_get("next").map_err(corrupt)?;
        let items: Vec<DueItem> = found.into_iter().map(item).collect::<Result<_>>()?;
        Ok(DuePage::of(now, items, ask.limit, next.map(moment)))
    }
}

fn item(row: DueRow) -> Result<DueItem> {
    let due_at = moment(row.at);
    if let Some(own) = row.partition {
        let partition = partition(own);
        let key = DueKey::Record(record_key(partition, &row.key)?);
        return Ok(DueItem { partition, key, due_at });
    }
    let own = row
        .account_partition
        .ok_or_else(|| corrupt("something is due nowhere"))?;
    Ok(DueItem {
        partition: own.parse().map_err(corrupt)?,
        key: DueKey::Account(row.key.parse().map_err(corrupt)?),
        due_at,
    })
}
