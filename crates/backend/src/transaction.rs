//! The unit of change: all of it or nothing, in one partition.

use ff_core::id::ExecutionId;
use ff_core::machine::decided::{Draft, Nudge, StreamEnd, Write};
use ff_core::machine::index::{Entry, entries};
use ff_core::machine::placement::{Placement, QueueKey, placement};
use ff_core::partition::{Family, Partition};
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, CounterKey, HistoryLine, Record, RecordKey};
use ff_core::time::{Duration, Timestamp};

use crate::load::Snapshot;

/// Which writing of a record this is: how many there were, and which transaction made it. Both are compared, so that a
/// caller whose reply was lost can tell its own writing from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    /// 1 for a new record, then one more with every writing.
    pub counter: u64,
    /// The tag of the transaction that wrote it.
    pub tag: Tag,
}

/// A transaction's random name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub u64);

impl Version {
    /// The version a record has once the transaction `tag` replaced this one.
    pub const fn next(self, tag: Tag) -> Version {
        Version {
            counter: self.counter + 1,
            tag,
        }
    }

    /// The version of a record created by the transaction `tag`.
    pub const fn first(tag: Tag) -> Version {
        Version { counter: 1, tag }
    }
}

/// Moves when the store may have lost writes it had acknowledged: a restart or a failover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Generation(pub u64);

/// A small transaction of one flow partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Transaction {
    /// Where.
    pub partition: Partition,
    /// Its name; every record it writes carries it.
    pub tag: Tag,
    /// Refused if the partition has another one by now: set when something was decided from counters, which have no
    /// versions. Compared before them.
    pub generation: Option<Generation>,
    /// Records that must still have these versions (`None`: must not exist), though they are not written.
    pub guards: Vec<(RecordKey, Option<Version>)>,
    /// Records to write.
    pub puts: Vec<Put>,
    /// Records to delete.
    pub deletes: Vec<Delete>,
    /// Executions whose blobs, history, streams and group counters are deleted.
    pub delete_remains: Vec<ExecutionId>,
    /// Bytes to keep beside executions. Those of an execution that does not exist after the transaction are not kept.
    pub blobs: Vec<(BlobKey, Payload)>,
    /// What happened: appended to the history of its subject, and as an event (`HistoryLine::event`) to the partition's feed.
    pub history: Vec<HistoryLine>,
    /// Counters to move. Only in a transaction with a put, which is what makes repeating safe.
    pub increments: Vec<(CounterKey, i64)>,
    /// Records to be reported as due now, without touching their version.
    pub nudges: Vec<Nudge>,
    /// Nudges that were evaluated: removed if no newer one came.
    pub clear_nudges: Vec<(RecordKey, NudgeStamp)>,
    /// Output streams that end here.
    pub stream_ends: Vec<StreamEnd>,
    /// Refused from this moment on, by the store's own clock. Versions are compared first.
    pub not_after: Option<Timestamp>,
    /// Refused if it would open more than [`ff_core::limits::QUEUES_MAX`] queues of one namespace and lane here.
    pub limits_queues: bool,
}

/// One record to write.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    /// The whole record.
    pub record: Record,
    /// The version it was computed from; `None`: it must not exist.
    pub expected: Option<Version>,
    /// Where the record of that version is listed: what is not among the entries of the new one is left. The version makes it
    /// true, so no store has to look.
    pub listed: Vec<Entry>,
    /// Gone by itself after this long. Only for records that must not exist.
    pub ttl: Option<Duration>,
}

/// One record to delete.
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// Which one.
    pub key: RecordKey,
    /// The version it must have.
    pub expected: Version,
    /// Where the record of that version is listed.
    pub listed: Vec<Entry>,
}

/// The lists a record leaves and enters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moves {
    /// It stands there no longer.
    pub leaves: Vec<Entry>,
    /// It stands there from now on, and may already.
    pub enters: Vec<Entry>,
}

impl Put {
    /// Creates a record that must not exist.
    pub const fn create(record: Record) -> Self {
        Self::unlisted(record, None)
    }

    /// Replaces this writing of a record.
    pub fn replace(record: Record, before: (&Record, Version)) -> Self {
        Self {
            listed: entries(before.0),
            ..Self::unlisted(record, Some(before.1))
        }
    }

    /// Writes a record over one that is in no list, if there is any.
    pub const fn unlisted(record: Record, expected: Option<Version>) -> Self {
        Self {
            record,
            expected,
            listed: Vec::new(),
            ttl: None,
        }
    }

    /// The version the record has once the transaction `tag` wrote it.
    pub fn version(&self, tag: Tag) -> Version {
        self.expected.map_or(Version::first(tag), |found| found.next(tag))
    }

    /// The lists it leaves and enters.
    pub fn moves(&self) -> Moves {
        let mut moves = Moves {
            leaves: self.listed.clone(),
            enters: entries(&self.record),
        };
        moves.leaves.retain(|entry| !moves.enters.contains(entry));
        moves.enters.retain(|entry| !self.listed.contains(entry));
        moves
    }
}

impl Delete {
    /// Deletes this writing of a record.
    pub fn of(before: (&Record, Version)) -> Self {
        Self {
            listed: entries(before.0),
            ..Self::unlisted(before.0.key(), before.1)
        }
    }

    /// Deletes a record that is in no list.
    pub const fn unlisted(key: RecordKey, expected: Version) -> Self {
        Self {
            key,
            expected,
            listed: Vec::new(),
        }
    }
}

/// What a transaction does with a record it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It must not have changed.
    Guard,
    /// It is written.
    Put,
    /// It is deleted.
    Delete,
}

/// Tells one nudge of a record from a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NudgeStamp(pub u64);

/// A committed transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Committed {
    /// The store's time of the commit.
    pub now: Timestamp,
    /// The counters it moved, with their new values.
    pub counters: Vec<(CounterKey, i64)>,
}

/// A transaction that was not committed, or may not have been.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CommitError {
    /// The store has lost writes since this was decided. Nothing was done.
    #[error("the store has lost writes since this was decided")]
    OtherGeneration,
    /// A record is not what the transaction was computed from. Nothing was done.
    #[error("{key:?} has changed")]
    Conflict {
        /// Which record.
        key: RecordKey,
        /// The version it has now; `None`: it does not exist.
        found: Option<Version>,
    },
    /// Its moment has passed. Nothing was done.
    #[error("too late by the store's clock ({now})")]
    TooLate {
        /// The store's time.
        now: Timestamp,
    },
    /// It would open too many queues. Nothing was done.
    #[error("too many queues of one namespace and lane in a partition")]
    TooManyQueues,
    /// It is not a valid transaction: a programmer's mistake. Nothing was done.
    #[error("malformed transaction: {0}")]
    Malformed(&'static str),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] crate::Error),
}

impl Transaction {
    /// A transaction that does nothing yet.
    pub fn new(partition: Partition, tag: Tag) -> Self {
        Self {
            partition,
            tag,
            generation: None,
            guards: Vec::new(),
            puts: Vec::new(),
            deletes: Vec::new(),
            delete_remains: Vec::new(),
            blobs: Vec::new(),
            history: Vec::new(),
            increments: Vec::new(),
            nudges: Vec::new(),
            clear_nudges: Vec::new(),
            stream_ends: Vec::new(),
            not_after: None,
            limits_queues: false,
        }
    }

    /// Binds what the rules drafted to the versions their records were loaded with, and to the generation if counters were
    /// loaded or rows were listed too.
    pub fn bind(draft: Draft, snapshot: &Snapshot, tag: Tag) -> Self {
        let mut transaction = Self::new(snapshot.partition, tag);
        let has_unversioned = snapshot.listed || !snapshot.counters.is_empty();
        transaction.generation = has_unversioned.then_some(snapshot.generation);
        for key in draft.guards {
            let version = snapshot.version(&key);
            transaction.guards.push((key, version));
        }
        for write in draft.writes {
            transaction.add(write, snapshot);
        }
        transaction.blobs = draft.blobs;
        transaction.history = draft.history;
        transaction.increments = draft.increments;
        transaction.nudges = draft.nudges;
        transaction.stream_ends = draft.stream_ends;
        transaction.not_after = draft.not_after;
        transaction.limits_queues = draft.limits_queues;
        transaction
    }

    fn add(&mut self, write: Write, snapshot: &Snapshot) {
        match write {
            Write::Put(record) => self.puts.push(match snapshot.records.get(&record.key()) {
                Some((before, version)) => Put::replace(record, (before, *version)),
                None => Put::create(record),
            }),
            Write::Again(record) => {
                let expected = snapshot.version(&record.key());
                self.puts.push(Put::unlisted(record, expected));
            }
            Write::Create { record, ttl } => self.puts.push(Put {
                ttl,
                ..Put::create(record)
            }),
            Write::Delete(key) => {
                let before = snapshot.records.get(&key);
                let delete = before.map(|(before, version)| Delete::of((before, *version)));
                self.deletes.extend(delete);
            }
            Write::DeleteRemains(execution_id) => self.delete_remains.push(execution_id),
        }
    }

    /// The versions it depends on, in the order they are compared.
    pub fn expectations(&self) -> impl Iterator<Item = (Role, RecordKey, Option<Version>)> {
        let guards = self.guards.iter();
        let guards = guards.map(|(key, expected)| (Role::Guard, key.clone(), *expected));
        let puts = self.puts.iter();
        let puts = puts.map(|put| (Role::Put, put.record.key(), put.expected));
        let deletes = self.deletes.iter();
        let deletes = deletes.map(|delete| (Role::Delete, delete.key.clone(), Some(delete.expected)));
        guards.chain(puts).chain(deletes)
    }

    /// The queues that the executions it writes belong in, one for each that is eligible.
    pub(crate) fn wanted_queues(&self) -> impl Iterator<Item = QueueKey> {
        self.puts.iter().filter_map(|put| match &put.record {
            Record::Execution(execution) => match placement(execution) {
                Placement::Eligible { queue, .. } => Some(queue),
                _ => None,
            },
            _ => None,
        })
    }

    /// Refuses what no backend could keep its promises for. Every backend calls this first.
    pub fn check(&self) -> Result<(), CommitError> {
        let malformed = |why| Err(CommitError::Malformed(why));
        if !self.increments.is_empty() && self.puts.is_empty() {
            return malformed("increments without a put");
        }
        if self.puts.iter().any(|put| put.ttl.is_some() && put.expected.is_some()) {
            return malformed("a time to live on a record that is replaced");
        }
        if self.partition.family != Family::Flow {
            return malformed("not a flow partition");
        }
        let puts = self.puts.iter().map(|put| put.record.key());
        let deletes = self.deletes.iter().map(|delete| delete.key.clone());
        let mut written: Vec<RecordKey> = puts.chain(deletes).collect();
        if written
            .iter()
            .filter_map(partition_of)
            .any(|partition| partition != self.partition)
        {
            return malformed("a record of another partition");
        }
        written.sort_unstable();
        if written.windows(2).any(|pair| pair[0] == pair[1]) {
            return malformed("a record is written twice");
        }
        Ok(())
    }
}

/// The partition a key names itself; flows, gates, edges and submission keys do not.
const fn partition_of(key: &RecordKey) -> Option<Partition> {
    match key {
        RecordKey::Execution(id)
        | RecordKey::Attempt(id, _)
        | RecordKey::Waitpoint(id, _)
        | RecordKey::Signal(id, _)
        | RecordKey::SignalKey(id, _)
        | RecordKey::Step(id, _) => Some(id.partition()),
        RecordKey::SubmissionKey(..) | RecordKey::Flow(_) | RecordKey::Gate(_) | RecordKey::Edge(_) => None,
    }
}
