//! How a transaction is packed; `lua/commit.lua` says what stands where.

use std::collections::HashMap;

use ff_backend::codec::key::{escaped, name, subject};
use ff_backend::codec::{counter, line, record};
use ff_backend::transaction::{Put, Transaction, Version};
use ff_core::limits::{BUDGET_SETS_MAX, QUEUES_MAX};
use ff_core::machine::placement::QueueKey;
use ff_core::name::{ContentType, LaneId};
use ff_core::record::{AboutLines, HistoryLine, HistorySubject, Record, RecordKey};
use ff_core::time::{Duration, Timestamp};

use crate::keys::{QueueName, blob, prefix};
use crate::pack::Pack;
use crate::record::{Entries, WaitingEntry, plain, version_text};

/// The largest number Lua tells from its neighbours; no moment and no span is longer.
const NUMBER_MAX: u64 = (1 << 53) - 1;

/// The queues that the transactions of one call enter: each is sent once, most calls know only one.
#[derive(Default)]
pub(super) struct Queues {
    numbers: HashMap<QueueKey, usize>,
    queues: Vec<(QueueKey, QueueName)>,
}

impl Queues {
    /// The number of a queue, from 0.
    fn number(&mut self, queue: QueueKey) -> usize {
        if let Some(number) = self.numbers.get(&queue) {
            return *number;
        }
        let number = self.queues.len();
        let name = QueueName::of(&queue);
        self.numbers.insert(queue.clone(), number);
        self.queues.push((queue, name));
        number
    }

    /// The queue with a number.
    pub(super) fn get(&self, number: usize) -> (&QueueKey, &QueueName) {
        let (queue, name) = &self.queues[number];
        (queue, name)
    }

    /// Packs them, each with the one it falls back to when very many budget sets have a queue of their own.
    pub(super) fn write(&self, pack: &mut Pack) {
        pack.each(self.queues.iter(), |pack, (queue, own)| {
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

/// What is needed of a packed transaction to read its answer.
#[derive(Default)]
pub(super) struct Packed {
    /// The names of the records it writes.
    names: Vec<String>,
    /// The queues it enters, by number, with the scores.
    pub(super) entered: Vec<(usize, String)>,
}

impl Packed {
    /// Packs a transaction.
    pub(super) fn write(transaction: &Transaction, pack: &mut Pack, queues: &mut Queues) -> Self {
        let mut packed = Self::default();
        pack.list(14).text(prefix(transaction.partition));
        pack.optional(transaction.generation.map(|generation| generation.0.to_string()));
        optional_number(pack, transaction.not_after.map(Timestamp::as_millis));
        expect(pack, transaction.guards.iter().map(|(key, version)| (key, *version)));
        pack.row(15, transaction.puts.iter(), |pack, put| {
            packed.put(pack, put, transaction, queues);
        });
        let deletes = transaction.deletes.iter();
        expect(pack, deletes.map(|(key, version)| (key, Some(*version))));
        pack.row(4, transaction.history.iter(), |pack, line| {
            let about = subject(line.subject);
            match packed.names.iter().position(|name| *name == about) {
                // Lua counts from 1.
                Some(number) => pack.number(count(number + 1)),
                None => pack.text(about),
            };
            let about = about_in(transaction, line.subject);
            pack.text(about_text(line)).text(line::write(line, about.as_ref()));
            // The same text, unless the feed is to be told less.
            let told = line
                .detail
                .is_some()
                .then(|| line::write(&line.event(), about.as_ref()));
            pack.optional(told);
        });
        beside(pack, transaction);
        let limit = transaction.limits_queues && !packed.entered.is_empty();
        optional_number(pack, limit.then_some(QUEUES_MAX as u64));
        packed
    }

    fn put(&mut self, pack: &mut Pack, put: &Put, transaction: &Transaction, queues: &mut Queues) {
        let key = put.record.key();
        let (entries, plain) = (Entries::of(&put.record), plain(&put.record));
        let name = name(&key);
        pack.text(&name)
            .text(optional_version(put.expected))
            .text(version_text(put.version(transaction.tag)));
        self.names.push(name);
        pack.text(record::write(&put.record))
            .text(entries.state)
            .text(entries.lane);
        pack.text(entries.due).text(entries.listed);
        match entries.waiting {
            None => {
                pack.nothing().nothing();
            }
            Some(WaitingEntry::Queue(queue, score)) => {
                let number = queues.number(queue);
                // Lua counts from 1.
                pack.text(&score).number(count(number + 1));
                self.entered.push((number, score));
            }
            Some(WaitingEntry::Blocked(cause, score)) => {
                pack.text(score).text(cause);
            }
        }
        optional_number(pack, put.ttl.map(Duration::as_millis));
        pack.flag(matches!(key, RecordKey::SignalKey(..) | RecordKey::SubmissionKey(..)));
        match plain {
            Some(plain) => pack.text(plain.created).text(plain.attempt).optional(plain.flow),
            None => pack.nothing().nothing().nothing(),
        };
    }
}

/// Records with the versions they must have.
fn expect<'k>(pack: &mut Pack, expected: impl ExactSizeIterator<Item = (&'k RecordKey, Option<Version>)>) {
    pack.each(expected, |pack, (key, version)| {
        pack.list(2).text(name(key)).text(optional_version(version));
    });
}

/// What a transaction does besides writing records.
fn beside(pack: &mut Pack, transaction: &Transaction) {
    pack.each(transaction.increments.iter(), |pack, (key, by)| {
        let (name, field) = counter::name(*key);
        pack.list(3).text(name).text(field).number(*by);
    });
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
        let reason = serde_json::to_value(end.reason).expect("a reason is a word");
        pack.text(end.execution_id.uuid().to_string())
            .text(end.attempt_index.to_string())
            .text(end.at.as_millis().to_string())
            .text(reason.as_str().unwrap_or_default());
    });
    pack.row(4, transaction.blobs.iter(), |pack, (key, payload)| {
        let (id, field) = blob(*key);
        let unusual = Some(payload.content_type.as_str()).filter(|_| payload.content_type != ContentType::default());
        pack.text(id.uuid().to_string()).text(field);
        pack.large(payload.bytes.clone()).optional(unusual);
    });
    pack.each(transaction.delete_remains.iter(), |pack, id| {
        pack.text(id.uuid().to_string());
    });
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

/// What stands before a line in the feed: `<record> <namespace>/<lane> <kind> <flow> `.
fn about_text(line: &HistoryLine) -> String {
    let (subject, namespace, kind) = (subject(line.subject), escaped(&line.namespace), &line.kind);
    let lane = line.lane.as_ref().map_or("", LaneId::as_str);
    let flow = line.flow_id.map_or_else(String::new, |flow_id| flow_id.to_string());
    format!("{subject} {namespace}/{lane} {kind} {flow} ")
}

fn optional_version(version: Option<Version>) -> String {
    version.map_or_else(String::new, version_text)
}

fn optional_number(pack: &mut Pack, number: Option<u64>) {
    match number {
        Some(number) => pack.number(number.min(NUMBER_MAX).cast_signed()),
        None => pack.nothing(),
    };
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
