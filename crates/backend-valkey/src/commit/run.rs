//! Runs: what most transactions are, in the form that costs the store least. A transaction that writes one execution and nothing but
//! what comes with it stands in a run with others like it; `lua/run.lua` does a run as a whole.

use std::collections::HashSet;

use ff_backend::codec::{record, score};
use ff_backend::transaction::{Put, Transaction};
use ff_core::capability::Signature;
use ff_core::id::FlowId;
use ff_core::limits::QUEUES_MAX;
use ff_core::machine::decided::StreamEnd;
use ff_core::machine::placement::{due_at, queue_of};
use ff_core::name::{ContentType, LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::payload::Payload;
use ff_core::record::{AboutLines, BlobKey, Execution, HistoryLine, HistorySubject, Record};
use ff_core::state::{PublicState, public_state};
use ff_core::time::Timestamp;

use super::pack::{AboutText, Queues, moved, reason_word, told};
use crate::keys::{lane, prefix};
use crate::pack::{IfAny, Pack, count};
use crate::record::{AttemptText, VersionText};

/// The columns of a run in their order. Lua knows their places by these names.
pub(crate) const COLUMNS: [&str; 19] = [
    "prefix",
    "lane",
    "about",
    "state",
    "names",
    "versions",
    "rows",
    "field",
    "content_type",
    "created",
    "places",
    "dues",
    "best",
    "first_due",
    "leaves",
    "enters",
    "queue",
    "queues_max",
    "not_after",
];

/// What the transactions of a run have in common.
#[derive(PartialEq)]
struct Kind<'t> {
    partition: Partition,
    is_new: bool,
    namespace: &'t Namespace,
    lane: &'t LaneId,
    /// What the feed says of them besides their names.
    about: Option<(&'t Namespace, Option<&'t LaneId>, &'t str, Option<FlowId>)>,
    state: PublicState,
    queue: Option<usize>,
    limits_queues: bool,
    /// What the bytes are that come with each.
    field: Option<&'static str>,
    /// Of these bytes, unless it is the usual one.
    content_type: Option<&'t ContentType>,
}

/// A run of transactions.
pub(super) struct Run<'t> {
    kind: Kind<'t>,
    members: Vec<Member<'t>>,
}

/// A transaction of a run.
struct Member<'t> {
    /// Which one of the call.
    number: usize,
    transaction: &'t Transaction,
    put: &'t Put,
    execution: &'t Execution,
    score: Option<i64>,
    due_at: Option<Timestamp>,
    line: Option<&'t HistoryLine>,
    payload: Option<&'t Payload>,
    stream_end: Option<&'t StreamEnd>,
}

/// The transactions of a call.
#[derive(Default)]
pub(super) struct Sorted<'t> {
    pub(super) runs: Vec<Run<'t>>,
    /// The numbers of those that go by themselves.
    pub(super) others: Vec<usize>,
}

impl<'t> Sorted<'t> {
    /// Sorts transactions into runs. What writes a record that is in a run already goes by itself.
    pub(super) fn of(transactions: &[&'t Transaction], queues: &mut Queues) -> Self {
        let (mut sorted, mut written) = (Self::default(), HashSet::new());
        for (number, transaction) in transactions.iter().enumerate() {
            match simple(number, transaction, queues) {
                Some((kind, member)) if written.insert(member.execution.id) => sorted.add(kind, member),
                _ => sorted.others.push(number),
            }
        }
        sorted
    }

    /// Those with these numbers, each by itself.
    pub(super) const fn without_runs(others: Vec<usize>) -> Self {
        let runs = Vec::new();
        Self { runs, others }
    }

    fn add(&mut self, kind: Kind<'t>, member: Member<'t>) {
        match self.runs.iter_mut().find(|run| run.kind == kind) {
            Some(run) => run.members.push(member),
            None => self.runs.push(Run {
                kind,
                members: vec![member],
            }),
        }
    }
}

/// What a transaction is in a run, if it can be in one.
fn simple<'t>(number: usize, transaction: &'t Transaction, queues: &mut Queues) -> Option<(Kind<'t>, Member<'t>)> {
    let [put] = &*transaction.puts else { return None };
    let Record::Execution(execution) = &put.record else {
        return None;
    };
    let (definition, is_new) = (&execution.definition, put.expected.is_none());
    let has_more = transaction.generation.is_some()
        || !transaction.guards.is_empty()
        || !transaction.deletes.is_empty()
        || !transaction.delete_remains.is_empty()
        || !transaction.increments.is_empty()
        || !transaction.nudges.is_empty()
        || !transaction.clear_nudges.is_empty()
        || put.ttl.is_some();
    // Only the first writing of a member of a flow says of which.
    if has_more || is_new && definition.flow.is_some() {
        return None;
    }
    let stream_end = at_most_one(&transaction.stream_ends)?;
    let line = at_most_one(&transaction.history)?;
    let (field, payload) = match at_most_one(&transaction.blobs)? {
        Some((BlobKey::Input(id), payload)) if *id == execution.id => (Some("input"), Some(payload)),
        Some((BlobKey::Result(id), payload)) if *id == execution.id => (Some("result"), Some(payload)),
        Some(_) => return None,
        None => (None, None),
    };
    let is_about_others = line.is_some_and(|line| line.subject != HistorySubject::Execution(execution.id))
        || stream_end.is_some_and(|end| is_new || end.execution_id != execution.id);
    let place = queue_of(&put.record);
    // Whether it stays in a queue, or shares one with others under budgets, only the store can say.
    let is_undecided = |signature: &Signature| !is_new || !signature.budgets.is_empty();
    if is_about_others || place.as_ref().is_some_and(|(queue, _)| is_undecided(&queue.signature)) {
        return None;
    }
    let (queue, score) = place
        .map(|(queue, score)| (queues.number(queue), score::number(&score)))
        .unzip();
    let kind = Kind {
        partition: transaction.partition,
        is_new,
        namespace: &definition.namespace,
        lane: &definition.lane,
        about: line.map(|line| (&line.namespace, line.lane.as_ref(), &*line.kind, line.flow_id)),
        state: public_state(execution),
        queue,
        limits_queues: transaction.limits_queues && queue.is_some(),
        field,
        content_type: payload
            .map(|payload| &payload.content_type)
            .filter(|content_type| **content_type != ContentType::default()),
    };
    let member = Member {
        number,
        transaction,
        put,
        execution,
        score,
        due_at: due_at(&put.record),
        line,
        payload,
        stream_end,
    };
    Some((kind, member))
}

/// The only one, if there is any; nothing: there are more.
fn at_most_one<T>(items: &[T]) -> Option<Option<&T>> {
    match items {
        [] => Some(None),
        [item] => Some(Some(item)),
        _ => None,
    }
}

impl<'t> Run<'t> {
    /// Packs it.
    pub(super) fn write(&self, pack: &mut Pack, queues: &Queues) {
        let (kind, members) = (&self.kind, &self.members);
        let prefix = prefix(kind.partition);
        let (mut leaves, mut enters) = (Vec::new(), Vec::new());
        for member in members {
            let [leaving, entering] = moved(member.transaction);
            leaves.extend(leaving);
            enters.extend(entering);
        }
        pack.list(COLUMNS.len());
        for column in COLUMNS {
            match column {
                "prefix" => pack.text(&prefix),
                "lane" => pack.text(lane(kind.namespace, kind.lane)),
                "state" => pack.text(kind.state.as_str()),
                "about" => pack.optional(members[0].line.map(|line| AboutText(line).to_string())),
                "names" => pack.each(members.iter(), |pack, member| {
                    pack.display(format_args!("execution:{}", member.execution.id.uuid()));
                }),
                "versions" if kind.is_new => pack.nothing(),
                "versions" => pack.each(members.iter(), |pack, member| {
                    pack.display(format_args!("{} ", IfAny(member.put.expected.map(VersionText))));
                }),
                "rows" => self.rows(pack, queues),
                "field" => pack.optional(kind.field),
                "content_type" => pack.optional(kind.content_type.map(ContentType::as_str)),
                "created" if !kind.is_new => pack.nothing(),
                "created" => self.scores(pack, |member| Some(millis(member.execution.definition.created_at))),
                "places" => self.scores(pack, |member| member.score),
                "dues" => self.scores(pack, |member| member.due_at.map(millis)),
                "best" => self.least(pack, |member| member.score),
                "first_due" => self.least(pack, |member| member.due_at.map(millis)),
                "leaves" => pack.texts(leaves.iter()),
                "enters" => pack.texts(enters.iter()),
                // Lua counts from 1.
                "queue" => pack.maybe(kind.queue.map(|number| count(number + 1))),
                "queues_max" => pack.maybe(kind.limits_queues.then(|| count(QUEUES_MAX))),
                "not_after" => {
                    let moments = members.iter().filter_map(|member| member.transaction.not_after);
                    pack.maybe(moments.min().map(millis))
                }
                column => unreachable!("column {column} is written"),
            };
        }
    }

    /// The numbers of its transactions, with the queue each enters and its score there.
    pub(super) fn numbers(&self) -> impl Iterator<Item = (usize, Option<(usize, i64)>)> + use<'_> {
        let members = self.members.iter();
        members.map(|member| (member.number, self.kind.queue.zip(member.score)))
    }

    fn rows<'p>(&self, pack: &'p mut Pack, queues: &Queues) -> &'p mut Pack {
        let set = self.kind.queue.map(|number| &queues.get(number).1.set);
        pack.row(6, self.members.iter(), |pack, member| {
            let (due, state) = (IfAny(member.due_at.map(Timestamp::as_millis)), self.kind.state);
            let (set, score, attempt) = (IfAny(set), IfAny(member.score), AttemptText(member.execution));
            let version = VersionText(member.put.version(member.transaction.tag));
            // What lua/head.lua says.
            pack.display(format_args!("{version} {due} {state} {set} {score} {attempt}"));
            pack.text(record::write(&member.put.record));
            match member.line {
                Some(line) => {
                    let (text, event) = told(line, Some(&AboutLines::execution(member.execution)));
                    pack.text(text).optional(event)
                }
                None => pack.nothing().nothing(),
            };
            match member.payload {
                Some(payload) => pack.large(payload.bytes.clone()),
                None => pack.nothing(),
            };
            match member.stream_end {
                Some(end) => {
                    let (index, at, reason) = (end.attempt_index, end.at.as_millis(), reason_word(end));
                    pack.display(format_args!("{index} {at} {reason}"))
                }
                None => pack.nothing(),
            };
        })
    }

    /// The score of each that has one; nothing at all if none has.
    fn scores<'p>(&self, pack: &'p mut Pack, score: impl Fn(&Member<'t>) -> Option<i64>) -> &'p mut Pack {
        if self.members.iter().all(|member| score(member).is_none()) {
            return pack.nothing();
        }
        pack.each(self.members.iter(), |pack, member| {
            match score(member) {
                Some(score) => pack.display(score),
                None => pack.nothing(),
            };
        })
    }

    /// The least score that any has.
    fn least<'p>(&self, pack: &'p mut Pack, score: impl Fn(&Member<'t>) -> Option<i64>) -> &'p mut Pack {
        let least = self.members.iter().filter_map(score).min();
        pack.optional(least.map(|score| score.to_string()))
    }
}

fn millis(moment: Timestamp) -> i64 {
    count(moment.as_millis())
}
