//! All records of a partition with what is kept for them.

use ff_backend::codec::cursor::Cut;
use ff_backend::codec::{key, record, score};
use ff_backend::query::{AuditRow, Rows};
use ff_core::machine::index::{Entry, entries};
use ff_core::machine::placement::{QueueKey, Score, queue_key};
use ff_core::partition::{Family, Partition};
use ff_core::record::Record;

use super::{Found, one_more};
use crate::call::{asked_at, call};
use crate::queues::QueueName;
use crate::rows::{EntryPut, answered};
use crate::shared::{Shared, moment, number};

answered! {
    /// A record with what is kept for it.
    Audited as "audited" {
        key: String, body: String, claim: String, due_at: Option<i64>, queue: Option<QueueName>, score: Option<i64>,
    }
}

impl Shared {
    pub(super) async fn list_audit(&self, own: Partition, cut: &Cut) -> Found {
        if own.family != Family::Flow {
            return Ok((self.ping().await?, Rows::Audit(Vec::new()), None));
        }
        let after = cut.after::<String>()?.unwrap_or_default();
        let (now, answer) = self
            .ask(call!(reading audit(
            own_partition: &number(own), after: &after, at_most: &one_more(cut))))
            .await?;
        let found: Vec<Audited> = answer.get("answer")?;
        let (shown, next) = cut.first(found, |row| row.key.clone());
        let mut rows = Vec::new();
        for audited in shown {
            let key = audited.key.clone();
            match audit_row(own, audited) {
                Ok(row) => rows.push(row),
                Err(error) => tracing::error!(%error, key, "a record cannot be read and is left out of an audit"),
            }
        }
        self.find_missing(own, &mut rows).await?;
        Ok((now, Rows::Audit(rows), next))
    }

    /// Notes the lists that records should stand in and do not.
    async fn find_missing(&self, own: Partition, rows: &mut [AuditRow]) -> ff_backend::Result<()> {
        let wanted: Vec<(usize, Entry)> = rows
            .iter()
            .enumerate()
            .flat_map(|(nth, row)| entries(&row.record).into_iter().map(move |entry| (nth, entry)))
            .collect();
        let asked: Vec<EntryPut> = wanted
            .iter()
            .map(|(nth, entry)| EntryPut {
                name: entry.index.to_string(),
                sort: entry.order.as_str().to_owned(),
                partition: number(own),
                key: key::name(&rows[*nth].record.key()),
            })
            .collect();
        if asked.is_empty() {
            return Ok(());
        }
        let answer = self
            .connections
            .row(call!(reading missing_entries(wanted: &asked)))
            .await?;
        for place in answer.get::<Vec<i32>>(0)? {
            let (nth, entry) = asked_at(&wanted, place)?;
            rows[*nth].missing.push(entry.clone());
        }
        Ok(())
    }
}

fn audit_row(own: Partition, audited: Audited) -> ff_backend::Result<AuditRow> {
    let key = key::record_key(own, &audited.key)?;
    let record = record::read_with_claim(&key, &audited.body, &audited.claim)?;
    Ok(AuditRow {
        queue: queue_in(&record, audited.queue.zip(audited.score))?,
        due_at: audited.due_at.map(moment),
        missing: Vec::new(),
        record,
    })
}

/// The queue an execution is in. It may stand in one without budgets that many budget sets share.
fn queue_in(record: &Record, place: Option<(QueueName, i64)>) -> ff_backend::Result<Option<(QueueKey, Score)>> {
    let (Record::Execution(execution), Some((name, place))) = (record, place) else {
        return Ok(None);
    };
    let mut queue = name.key()?;
    if queue.signature.budgets.is_empty() {
        queue.signature.budgets = queue_key(execution).signature.budgets;
    }
    Ok(Some((queue, score::score(place, execution.id)?)))
}
