//! What a transaction writes, put into words by whoever calls: the one thread that writes has less to do.

use std::collections::BTreeMap;

use ff_backend::codec::record;
use ff_backend::transaction::{CommitError, Moves, Put, Transaction};
use ff_core::machine::placement::{Placement, QueueKey, due_at, placement};
use ff_core::record::{Execution, HistorySubject, Record, stored};
use ff_core::state::{StateVector, blocking_detail, state_vector};
use ff_core::time::Timestamp;

use crate::history::{Lines, LinesBySubject, event_text, take_lines};

/// A transaction, and what it writes in words.
pub(crate) struct Prepared {
    pub(crate) transaction: Transaction,
    /// Of each record it puts.
    pub(crate) puts: Vec<(Moves, Words)>,
    /// Its lines as the feed has them.
    pub(crate) events: Vec<String>,
    /// Its lines about what it does not put.
    pub(crate) lines: BTreeMap<HistorySubject, Lines>,
}

/// A record in words.
pub(crate) enum Words {
    Execution(Described),
    Other { body: String, due_at: Option<Timestamp> },
}

/// What the columns of an execution say.
pub(crate) struct Described {
    pub(crate) vector: StateVector,
    pub(crate) blocking_detail: Option<String>,
    pub(crate) due_at: Option<Timestamp>,
    /// Where it waits to be handed out.
    pub(crate) queue: Option<QueueKey>,
    pub(crate) body: String,
    /// What is added to its history.
    pub(crate) lines: Lines,
}

impl Prepared {
    /// Prepares a transaction, unless it is none.
    pub(crate) fn new(transaction: Transaction) -> Result<Self, CommitError> {
        transaction.check()?;
        let mut lines = LinesBySubject::new();
        for line in &transaction.history {
            lines.entry(line.subject).or_default().push(line);
        }
        let in_words = |put: &Put| (put.moves(), Words::of(&put.record, &mut lines));
        let puts = transaction.puts.iter().map(in_words).collect();
        let others = lines.into_iter();
        let others = others.map(|(subject, lines)| (subject, Lines::without(&lines, None)));
        Ok(Self {
            puts,
            events: transaction.history.iter().map(event_text).collect(),
            lines: others.collect(),
            transaction,
        })
    }
}

impl Words {
    /// A record in words, with those of the lines that are about it if it is an execution.
    fn of(record: &Record, lines: &mut LinesBySubject<'_>) -> Self {
        match record {
            Record::Execution(execution) => Self::Execution(Described::new(execution, take_lines(lines, execution))),
            other => Self::Other {
                body: record::write(other),
                due_at: due_at(other),
            },
        }
    }

    /// Its body, and when it is due.
    pub(crate) fn body(&self) -> (&str, Option<Timestamp>) {
        match self {
            Self::Execution(Described { body, due_at, .. }) | Self::Other { body, due_at } => (body, *due_at),
        }
    }
}

impl Described {
    /// Describes an execution as it shall stand.
    pub(crate) fn new(execution: &Execution, lines: Lines) -> Self {
        let queue = match placement(execution) {
            Placement::Eligible { queue, .. } => Some(queue),
            _ => None,
        };
        Self {
            vector: state_vector(execution),
            blocking_detail: blocking_detail(execution),
            due_at: ff_core::machine::time::due_at(execution),
            queue,
            body: stored::write(execution).expect("an execution is a document"),
            lines,
        }
    }
}
