//! How a transaction is packed by itself; `lua/transaction.lua` says what stands where.

use std::fmt;

use ff_backend::codec::key::{escaped, name, subject};
use ff_backend::codec::{counter, line, record, score, state};
use ff_backend::transaction::{Put, Transaction, Version};
use ff_core::limits::{BUDGET_SETS_MAX, QUEUES_MAX};
use ff_core::machine::decided::StreamEnd;
use ff_core::machine::placement::{QueueKey, due_at, queue_of};
use ff_core::name::ContentType;
use ff_core::record::{AboutLines, CounterKey, HistoryLine, HistorySubject, Record, RecordKey};
use ff_core::state::public_state;
use ff_core::time::Timestamp;

use crate::keys::{QueueName, blob, lane, member, own, prefix};
use crate::pack::{IfAny, Pack, count};
use crate::record::{AttemptText, VersionText};

/// The queues that the transactions of one call enter: each is sent once, most calls know only one.
#[derive(Default)]
pub(super) struct Queues(Vec<(QueueKey, QueueName)>);

impl Queues {
    /// The number of a queue, from 0.
    pub(super) fn number(&mut self, queue: QueueKey) -> usize {
        let known = self.0.iter().position(|(known, _)| *known == queue);
        known.unwrap_or_else(|| {
            let name = QueueName::of(&queue);
            self.0.push((queue, name));
            self.0.len() - 1
        })
    }

    /// The queue with a number.
    pub(super) fn get(&self, number: usize) -> &(QueueKey, QueueName) {
        &self.0[number]
    }

    /// Packs them, each with the one it falls back to when very many budget sets have a queue of their own.
    pub(super) fn write(&self, pack: &mut Pack) {
        pack.each(self.0.iter(), |pack, (queue, own)| {
            let shared = shared(queue);
            pack.list(if shared.is_some() { 7 } else { 4 });
            pack.text(&own.set)
                .text(&own.lane)
                .text(&own.group)
                .text(&own.registration);
            if let Some(shared) = shared {
                pack.text(shared.set)
                    .text(shared.registration)
                    .number(count(BUDGET_SETS_MAX));
            }
        });
    }
}

fn shared(queue: &QueueKey) -> Option<QueueName> {
    if queue.signature.budgets.is_empty() {
        return None;
    }
    let mut shared = queue.clone();
    shared.signature.budgets.clear();
    Some(QueueName::of(&shared))
}

/// The queues that a transaction enters, by number, with the scores.
pub(super) type Entered = Vec<(usize, i64)>;

/// What is needed of a transaction while it is packed.
#[derive(Default)]
struct Packed {
    /// The names of the records it writes.
    names: Vec<String>,
    entered: Entered,
}

/// Packs a transaction.
pub(super) fn write(transaction: &Transaction, pack: &mut Pack, queues: &mut Queues) -> Entered {
    Packed::default().write(transaction, pack, queues)
}

impl Packed {
    fn write(mut self, transaction: &Transaction, pack: &mut Pack, queues: &mut Queues) -> Entered {
        pack.list(16).text(prefix(transaction.partition));
        pack.optional(transaction.generation.map(|generation| generation.0.to_string()));
        pack.maybe(transaction.not_after.map(|at| count(at.as_millis())));
        expect(pack, transaction.guards.iter().map(|(key, version)| (key, *version)));
        pack.row(12, transaction.puts.iter(), |pack, put| {
            self.put(pack, put, transaction, queues);
        });
        let deletes = transaction.deletes.iter();
        expect(pack, deletes.map(|delete| (&delete.key, Some(delete.expected))));
        pack.row(4, transaction.history.iter(), |pack, line| {
            written(pack, &self.names, &subject(line.subject));
            let (text, event) = told(line, about_in(transaction, line.subject).as_ref());
            pack.display(AboutText(line)).text(text).optional(event);
        });
        beside(pack, transaction, &self.names);
        let limit = transaction.limits_queues && !self.entered.is_empty();
        pack.maybe(limit.then(|| count(QUEUES_MAX)));
        let [leaves, enters] = moved(transaction);
        pack.texts(leaves.iter()).texts(enters.iter());
        self.entered
    }

    fn put(&mut self, pack: &mut Pack, put: &Put, transaction: &Transaction, queues: &mut Queues) {
        let (record, key) = (&put.record, put.record.key());
        let name = name(&key);
        pack.text(&name)
            .display(IfAny(put.expected.map(VersionText)))
            .display(VersionText(put.version(transaction.tag)))
            .text(record::write(record))
            .display(IfAny(due_at(record).map(Timestamp::as_millis)));
        match record {
            Record::Execution(execution) => pack.display(AttemptText(execution)),
            record => pack.text(own(record)),
        };
        self.names.push(name);
        match queue_of(record) {
            Some((queue, score)) => {
                let (number, score) = (queues.number(queue), score::number(&score));
                // Lua counts from 1.
                pack.text(score.to_string()).number(count(number + 1));
                self.entered.push((number, score));
            }
            None => {
                pack.nothing().nothing();
            }
        }
        pack.maybe(put.ttl.map(|ttl| count(ttl.as_millis())));
        plain(pack, record);
    }
}

/// What stands on a record in plain text, for the store's functions and for people.
fn plain(pack: &mut Pack, record: &Record) {
    let Record::Execution(execution) = record else {
        let state = match record {
            Record::Gate(gate) => state::gate_word(gate.state),
            _ => "",
        };
        pack.text(state).nothing().flag(matches!(record, Record::Flow(_)));
        return;
    };
    let definition = &execution.definition;
    pack.text(public_state(execution).as_str())
        .text(definition.created_at.as_millis().to_string())
        .text(lane(&definition.namespace, &definition.lane));
}

/// Records with the versions they must have.
fn expect<'k>(pack: &mut Pack, expected: impl ExactSizeIterator<Item = (&'k RecordKey, Option<Version>)>) {
    pack.row(2, expected, |pack, (key, version)| {
        pack.text(name(key)).display(IfAny(version.map(VersionText)));
    });
}

/// The members of the index that go, and those that come.
pub(super) fn moved(transaction: &Transaction) -> [Vec<String>; 2] {
    let [mut leaves, mut enters] = [Vec::new(), Vec::new()];
    for put in &transaction.puts {
        let (moves, key) = (put.moves(), put.record.key());
        leaves.extend(moves.leaves.iter().map(|entry| member(entry, &key)));
        enters.extend(moves.enters.iter().map(|entry| member(entry, &key)));
    }
    for delete in &transaction.deletes {
        leaves.extend(delete.listed.iter().map(|entry| member(entry, &delete.key)));
    }
    [leaves, enters]
}

/// A record by its name, or by its number among those that are written.
fn written(pack: &mut Pack, names: &[String], about: &str) {
    match names.iter().position(|name| name == about) {
        // Lua counts from 1.
        Some(number) => pack.number(count(number + 1)),
        None => pack.text(about),
    };
}

/// A counter, the field it is kept in, and by how much it moves.
type Move = (CounterKey, String, i64);

/// Counters that are moved, by the record they belong to.
#[derive(Default)]
pub(super) struct Moved(Vec<(String, Vec<Move>)>);

impl Moved {
    pub(super) fn by(transaction: &Transaction) -> Self {
        let mut moved = Self::default();
        for (key, by) in &transaction.increments {
            let (owner, field) = counter::name(*key);
            match moved.0.iter_mut().find(|(known, _)| *known == owner) {
                Some((_, counters)) => counters.push((*key, field, *by)),
                None => moved.0.push((owner, vec![(*key, field, *by)])),
            }
        }
        moved
    }

    /// In the order in which their new values are answered.
    pub(super) fn keys(&self) -> impl Iterator<Item = CounterKey> {
        self.0
            .iter()
            .flat_map(|(_, counters)| counters.iter().map(|(key, ..)| *key))
    }

    fn write(&self, pack: &mut Pack, names: &[String]) {
        if self.0.is_empty() {
            pack.nothing();
            return;
        }
        pack.list(self.0.iter().map(|(_, counters)| 2 + 2 * counters.len()).sum());
        for (owner, counters) in &self.0 {
            written(pack, names, owner);
            pack.number(count(counters.len()));
            counters.iter().for_each(|(_, field, _)| {
                pack.text(field);
            });
            counters.iter().for_each(|(.., by)| {
                pack.number(*by);
            });
        }
    }
}

/// What a transaction does besides writing records.
fn beside(pack: &mut Pack, transaction: &Transaction, names: &[String]) {
    Moved::by(transaction).write(pack, names);
    pack.each(transaction.nudges.iter(), |pack, nudge| {
        pack.list(3).text(name(&nudge.key));
        match nudge.only_at_zero.map(counter::name) {
            Some((name, field)) => pack.text(name).text(field),
            None => pack.nothing().nothing(),
        };
    });
    pack.each(transaction.clear_nudges.iter(), |pack, (key, stamp)| {
        pack.list(2).text(name(key)).text(stamp.0.to_string());
    });
    pack.row(4, transaction.stream_ends.iter(), |pack, end| {
        pack.text(end.execution_id.uuid().to_string())
            .text(end.attempt_index.to_string())
            .text(end.at.as_millis().to_string())
            .text(reason_word(end));
    });
    pack.row(4, transaction.blobs.iter(), |pack, (key, payload)| {
        let (owner, field) = blob(*key);
        let unusual = Some(payload.content_type.as_str()).filter(|_| payload.content_type != ContentType::default());
        pack.text(owner).text(field);
        pack.large(payload.bytes.clone()).optional(unusual);
    });
    pack.texts(transaction.delete_remains.iter().map(|id| id.uuid().to_string()));
}

/// What an execution that this transaction writes says about its own lines.
fn about_in(transaction: &Transaction, subject: HistorySubject) -> Option<AboutLines<'_>> {
    transaction.puts.iter().find_map(|put| match &put.record {
        Record::Execution(execution) if HistorySubject::Execution(execution.id) == subject => {
            Some(AboutLines::execution(execution))
        }
        _ => None,
    })
}

/// Why a stream ends, as a word.
pub(super) fn reason_word(end: &StreamEnd) -> String {
    let reason = serde_json::to_value(end.reason).expect("a reason is a word");
    reason.as_str().unwrap_or_default().to_owned()
}

/// A line for the record it is about, beside what that says; and for the feed, unless that is told the same.
pub(super) fn told(line: &HistoryLine, about: Option<&AboutLines<'_>>) -> (String, Option<String>) {
    let event = line.detail.is_some().then(|| line::write(&line.event(), about));
    (line::write(line, about), event)
}

/// What stands between the name of a record and a line about it in the feed: ` <namespace>/<lane> <kind> <flow> `.
pub(super) struct AboutText<'l>(pub(super) &'l HistoryLine);

impl fmt::Display for AboutText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.0;
        match &line.lane {
            Some(own) => write!(f, " {}", lane(&line.namespace, own))?,
            None => write!(f, " {}/", escaped(&line.namespace))?,
        }
        write!(f, " {} {} ", line.kind, IfAny(line.flow_id))
    }
}
