//! Where a list is found in a partition, and how its places are read.

use ff_backend::codec::key::name;
use ff_backend::codec::score;
use ff_backend::{Error, Result};
use ff_core::id::{SignalId, WaitpointId};
use ff_core::machine::index::{Index, Order};
use ff_core::partition::Partition;
use ff_core::record::RecordKey;
use ff_core::time::Timestamp;
use redis::Value;

use super::reader::Command;
use super::records::FIELDS;
use crate::error::corrupt;
use crate::keys::{EXECUTIONS, INDEX, QueueName, listed};
use crate::reply::{list, text, whole_score};

/// What a list is read from.
#[derive(Clone, PartialEq)]
pub(super) enum Source {
    /// The executions, whose numbers are their creation. Tenants share them.
    Executions,
    /// The set of a queue.
    Queue(String),
    /// The names of what belongs to an execution, in the index.
    Names(Index),
    /// The entries of a list, in the index: `<list> <order> <record>`.
    Entries(String),
}

/// A record and where it stands in a list.
pub(super) struct Place {
    pub(super) order: Order,
    pub(super) partition: Partition,
    pub(super) key: RecordKey,
}

impl Source {
    pub(super) fn of(index: &Index) -> Self {
        match index {
            Index::Age(_) => Source::Executions,
            Index::Queue(queue) => Source::Queue(QueueName::of(queue).set),
            Index::Attempts(_) | Index::Waitpoints(_) | Index::Signals(_) => Source::Names(index.clone()),
            _ => Source::Entries(index.to_string()),
        }
    }

    /// Reads so many places from an order on. What comes first may still be before it: members with one number are read together.
    pub(super) fn command(&self, from: &Order, count: usize) -> Result<Command> {
        let command = match self {
            Source::Executions => {
                let (created_at, _) = from.as_newest().ok_or(Error::InvalidCursor)?;
                let first = created_at.as_millis().to_string();
                Command::new("ZRANGE", EXECUTIONS).args([&first, "-inf", "BYSCORE", "REV", "WITHSCORES"])
            }
            Source::Queue(set) => {
                let first = score::number(&from.as_score().ok_or(Error::InvalidCursor)?).to_string();
                Command::new("ZRANGE", set).args([&first, "+inf", "BYSCORE", "WITHSCORES"])
            }
            Source::Names(index) => {
                let first = name(&named(index, from).ok_or(Error::InvalidCursor)?);
                let (all, _) = first.rsplit_once(':').unwrap_or_default();
                // ";" comes right after ":".
                Command::names(INDEX, format!("[{first}"), format!("({all};"))
            }
            Source::Entries(list) => {
                let (first, end) = between(list, from);
                Command::names(INDEX, first, end)
            }
        };
        Ok(command.first(count))
    }

    /// The same with the records that stand there, where a list tells their names.
    pub(super) fn with_records(&self, partition: Partition, from: &Order, count: usize) -> Option<Command> {
        let Source::Entries(list) = self else { return None };
        let (first, end) = between(list, from);
        Some(Command::listed(partition, first, end, count, &FIELDS))
    }

    /// Reads how many places there are, of a list that is a set of its own.
    pub(super) fn length(&self) -> Command {
        let set = match self {
            Source::Executions => EXECUTIONS,
            Source::Queue(set) => set,
            Source::Names(_) | Source::Entries(_) => INDEX,
        };
        Command::new("ZCARD", set)
    }

    /// The places that were read.
    pub(super) fn places(&self, partition: Partition, reply: Value) -> Result<Vec<Place>> {
        let values = list(reply)?;
        let place = |member: &Value, number| self.place(partition, text(member)?, number);
        match self {
            Source::Executions | Source::Queue(_) => {
                let pairs = values.chunks_exact(2);
                pairs.map(|pair| place(&pair[0], whole_score(&pair[1])?)).collect()
            }
            Source::Names(_) | Source::Entries(_) => values.iter().map(|member| place(member, 0)).collect(),
        }
    }

    fn place(&self, partition: Partition, member: &str, number: i64) -> Result<Place> {
        let key = listed(partition, member)?;
        let order = match (self, &key) {
            (Source::Executions, RecordKey::Execution(id)) => {
                let created_at = Timestamp::from_millis(number.unsigned_abs());
                Some(Order::newest(created_at).then_newest(*id))
            }
            (Source::Queue(_), RecordKey::Execution(id)) => Some(Order::best(&score::score(number, *id)?)),
            (Source::Names(_), RecordKey::Attempt(_, index)) => Some(Order::index(*index)),
            (Source::Names(_), RecordKey::Waitpoint(_, id)) => Some(Order::first(id.uuid())),
            (Source::Names(_), RecordKey::Signal(_, id)) => Some(Order::first(id.uuid())),
            (Source::Entries(_), _) => member.split(' ').nth(1).and_then(Order::parse),
            _ => None,
        };
        let order = order.ok_or_else(|| corrupt(format!("{member:?} stands in a list")))?;
        Ok(Place { order, partition, key })
    }
}

/// Between which names the entries of a list are, from an order on.
fn between(list: &str, from: &Order) -> (String, String) {
    // "!" comes right after the space.
    (format!("[{list} {}", from.as_str()), format!("({list}!"))
}

/// What has this place among the parts of an execution.
fn named(index: &Index, order: &Order) -> Option<RecordKey> {
    Some(match index {
        Index::Attempts(id) => RecordKey::Attempt(*id, order.as_index()?),
        Index::Waitpoints(id) => RecordKey::Waitpoint(*id, WaitpointId::from_uuid(order.as_uuid()?)),
        Index::Signals(id) => RecordKey::Signal(*id, SignalId::from_uuid(order.as_uuid()?)),
        _ => return None,
    })
}
