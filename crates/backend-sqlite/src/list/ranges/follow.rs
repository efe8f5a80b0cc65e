//! Where each list is found: in a table of entries, or in what is kept anyway.

use ff_backend::codec::cursor::Start;
use ff_backend::codec::key::{self, record_key};
use ff_core::id::{ExecutionId, SignalId, WaitpointId};
use ff_core::machine::index::{Index, Order};
use ff_core::machine::placement::QueueKey;
use ff_core::name::Namespace;
use ff_core::partition::Partition;
use ff_core::record::RecordKey;
use rusqlite::{Params, Row};

use super::{Place, Walk};
use crate::column::{columns, execution_id, moment, score, text, to_json};
use crate::database::Asked;
use crate::error::corrupt;
use crate::list::{Answer, Reading};
use crate::sql::{self, with};

impl Reading<'_, '_> {
    /// Goes along a list from the start.
    pub(super) fn follow(&self, list: &Index, start: &Start, walk: &mut Walk<'_>) -> Answer<()> {
        let uuid = || start.read(Order::as_uuid);
        let (id, from) = match list {
            Index::Age(namespace) => return self.follow_newest(namespace.as_ref(), start, walk),
            Index::Queue(queue) => return self.follow_queue(queue, start, walk),
            Index::Attempts(id) => (id, RecordKey::Attempt(*id, start.read(Order::as_index)?)),
            Index::Waitpoints(id) => (id, RecordKey::Waitpoint(*id, WaitpointId::from_uuid(uuid()?))),
            Index::Signals(id) => (id, RecordKey::Signal(*id, SignalId::from_uuid(uuid()?))),
            list => return self.follow_entries(list, start, walk),
        };
        self.follow_parts(*id, &from, start, walk)
    }

    fn follow_entries(&self, list: &Index, start: &Start, walk: &mut Walk<'_>) -> Answer<()> {
        let from = start.text(&start.order.as_str());
        let asked = with!(sql::LIST_ENTRIES, name: list.to_string(), from: from);
        self.walk(asked, walk, |row| {
            let (sort, partition) = (text(row, 0)?, Partition::flow(row.get(1)?));
            let order = Order::parse(sort).ok_or_else(|| corrupt(format_args!("{sort:?} is no place in a list")))?;
            let key = record_key(partition, text(row, 2)?).map_err(corrupt)?;
            Ok((order, (partition, key)))
        })
    }

    fn follow_newest(&self, namespace: Option<&Namespace>, start: &Start, walk: &mut Walk<'_>) -> Answer<()> {
        let (created_at, id) = start.read(Order::as_newest)?;
        let (millis, (uuid, partition)) = (created_at.as_millis(), columns(id));
        let partition = i64::from(partition) - i64::from(start.is_after);
        match namespace {
            Some(namespace) => {
                let asked = with!(sql::LIST_NEWEST_OF_NAMESPACE,
                    namespace: namespace.as_str(), created_at: millis, uuid: uuid, partition: partition);
                self.walk(asked, walk, newest)
            }
            None => {
                let asked = with!(sql::LIST_NEWEST, created_at: millis, uuid: uuid, partition: partition);
                self.walk(asked, walk, newest)
            }
        }
    }

    fn follow_queue(&self, queue: &QueueKey, start: &Start, walk: &mut Walk<'_>) -> Answer<()> {
        let from = start.read(Order::as_score)?;
        let (uuid, partition) = columns(from.id);
        let asked = with!(sql::LIST_QUEUED,
            namespace: queue.namespace.as_str(),
            lane: queue.lane.as_str(),
            signature: to_json(&queue.signature)?,
            priority: from.priority.0,
            created_at: from.created_at.as_millis(),
            uuid: uuid,
            partition: i64::from(partition) + i64::from(start.is_after));
        self.walk(asked, walk, |row| {
            let score = score(row, 0)?;
            Ok((Order::best(&score), execution(score.id)))
        })
    }

    /// What an execution has of a kind, from one on: keys of one kind and execution begin alike, up to a colon, which the semicolon
    /// follows.
    fn follow_parts(&self, id: ExecutionId, from: &RecordKey, start: &Start, walk: &mut Walk<'_>) -> Answer<()> {
        let (name, partition) = (key::name(from), id.partition());
        let (alike, _) = name.rsplit_once(':').unwrap_or_default();
        let asked = with!(sql::LIST_KEYS,
            from: start.text(&name), before: format!("{alike};"), partition: partition.index);
        self.walk(asked, walk, |row| {
            let key = record_key(partition, text(row, 0)?).map_err(corrupt)?;
            let order = match &key {
                RecordKey::Attempt(_, own) => Order::index(*own),
                RecordKey::Waitpoint(_, own) => Order::first(own.uuid()),
                RecordKey::Signal(_, own) => Order::first(own.uuid()),
                other => return Err(corrupt(format_args!("{other:?} is in no such list"))),
            };
            Ok((order, (partition, key)))
        })
    }

    fn walk(
        &self,
        asked: Asked<impl Params>,
        walk: &mut Walk<'_>,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<Place>,
    ) -> Answer<()> {
        self.database.rows(asked, |rows| walk.along(rows.mapped(read)))?;
        Ok(())
    }
}

fn newest(row: &Row<'_>) -> rusqlite::Result<Place> {
    let id = execution_id(row, 1)?;
    Ok((Order::newest(moment(row, 0)?).then_newest(id), execution(id)))
}

const fn execution(id: ExecutionId) -> (Partition, RecordKey) {
    (id.partition(), RecordKey::Execution(id))
}
