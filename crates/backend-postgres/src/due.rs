//! What needs attention.

use ff_backend::Result;
use ff_backend::codec::key::record_key;
use ff_backend::due::{Due, DueItem, DueKey, DuePage};
use ff_core::partition::{Family, Partition};

use crate::call::call;
use crate::error::corrupt;
use crate::rows::answered;
use crate::shared::{Shared, count, moment, number, partition};

answered! {
    /// Something that is due.
    DueRow as "due_row" { partition: Option<i16>, account_partition: Option<String>, at: i64, key: String }
}

impl Shared {
    /// What is due in the partitions asked for, and when the next thing will be.
    pub(crate) async fn due(&self, ask: Due) -> Result<DuePage> {
        let (flows, accounts): (Vec<Partition>, Vec<_>) =
            ask.partitions.iter().partition(|it| it.family == Family::Flow);
        let flows: Vec<i16> = flows.into_iter().map(number).collect();
        let accounts: Vec<String> = accounts.iter().map(ToString::to_string).collect();
        let at_most = count(ask.limit);
        let asked = call!(reading due(partitions: &flows, account_partitions: &accounts, at_most: &at_most));
        let (now, answer) = self.ask(asked).await?;
        let found: Vec<DueRow> = answer.get("answer")?;
        let next: Option<i64> = answer.get("next")?;
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
