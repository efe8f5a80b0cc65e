//! Everything the store keeps, and the lookups its parts share.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::id::ExecutionId;
use ff_core::machine::placement::{QueueKey, Score};
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, CounterKey, Execution, HistorySubject, Record, RecordKey};
use ff_core::time::{Duration, Timestamp};

use super::agenda::Agenda;
use super::depths::Depths;
use super::feed::{Feed, History};
use super::frames::Stream;
use super::ledger::Accounts;
use super::lists::Lists;
use super::queues::Queues;
use super::settings::SettingsTable;
use crate::hint::{Hint, HintBoard};
use crate::transaction::{Generation, Version};

/// Lines a partition's feed keeps unless told otherwise.
const FEED_LINES_MAX: usize = 100_000;

/// The whole store. Only `index` writes records, so that no index can miss one.
#[derive(Clone)]
pub(super) struct Store {
    pub(super) now: Timestamp,
    pub(super) generation: Generation,
    pub(super) counts: PartitionCounts,
    pub(super) partitions: BTreeMap<Partition, FlowPartition>,
    /// Records that are gone by themselves, by the moment they are.
    pub(super) expiring: BTreeSet<(Timestamp, Partition, RecordKey)>,
    pub(super) queues: Queues,
    pub(super) agendas: BTreeMap<Partition, Agenda>,
    pub(super) depths: Depths,
    pub(super) lists: Lists,
    pub(super) histories: BTreeMap<HistorySubject, History>,
    pub(super) feed_lines_max: usize,
    pub(super) streams: BTreeMap<(ExecutionId, u32), Stream>,
    pub(super) accounts: Accounts,
    pub(super) settings: SettingsTable,
    pub(super) hints: HintBoard,
    /// Nudges ever made; each one's number is its stamp.
    pub(super) nudges_made: u64,
}

/// What one flow partition keeps.
#[derive(Clone, Default)]
pub(super) struct FlowPartition {
    pub(super) records: BTreeMap<RecordKey, Stored>,
    /// Moved counters; 0 is kept like any other value until its subject is deleted.
    pub(super) counters: BTreeMap<CounterKey, i64>,
    pub(super) blobs: BTreeMap<BlobKey, Payload>,
    pub(super) feed: Feed,
}

/// A record as it is kept.
#[derive(Clone)]
pub(super) struct Stored {
    pub(super) record: Record,
    pub(super) version: Version,
    pub(super) expires_at: Option<Timestamp>,
    /// The queue it waits in, and where; kept with it, so that exactly that place is left again.
    pub(super) queue: Option<(QueueKey, Score)>,
}

impl Store {
    pub(super) fn new(start: Timestamp, counts: PartitionCounts) -> Self {
        Self {
            now: start,
            generation: Generation::default(),
            counts,
            partitions: BTreeMap::new(),
            expiring: BTreeSet::new(),
            queues: Queues::default(),
            agendas: BTreeMap::new(),
            depths: Depths::default(),
            lists: Lists::default(),
            histories: BTreeMap::new(),
            feed_lines_max: FEED_LINES_MAX,
            streams: BTreeMap::new(),
            accounts: Accounts::default(),
            settings: SettingsTable::default(),
            hints: HintBoard::default(),
            nudges_made: 0,
        }
    }

    /// Lets time pass.
    pub(super) fn advance(&mut self, by: Duration) {
        self.now += by;
    }

    /// Becomes `kept`, but for the time, which does not go back, the generation, which is a new one, and the channel of
    /// hints, which others listen to.
    pub(super) fn restore(&mut self, kept: Store) {
        let now = self.now.max(kept.now);
        let generation = Generation(self.generation.0.max(kept.generation.0) + 1);
        let hints = std::mem::take(&mut self.hints);
        *self = Store {
            now,
            generation,
            hints,
            ..kept
        };
        self.hints.note(Hint::Missed);
        self.hints.send();
    }

    /// The partition, made if it is the first time anybody writes to it.
    pub(super) fn partition_mut(&mut self, partition: Partition) -> &mut FlowPartition {
        self.partitions.entry(partition).or_default()
    }

    /// A record as it is kept.
    pub(super) fn stored(&self, partition: Partition, key: &RecordKey) -> Option<&Stored> {
        self.partitions.get(&partition)?.records.get(key)
    }

    /// The version of a record; `None`: it does not exist.
    pub(super) fn version(&self, partition: Partition, key: &RecordKey) -> Option<Version> {
        self.stored(partition, key).map(|stored| stored.version)
    }

    /// An execution with its version.
    pub(super) fn execution(&self, id: ExecutionId) -> Option<(&Execution, Version)> {
        let stored = self.stored(id.partition(), &RecordKey::Execution(id))?;
        match &stored.record {
            Record::Execution(execution) => Some((execution, stored.version)),
            _ => None,
        }
    }

    /// Forgets the records whose time to live is over: nobody sees them again.
    pub(super) fn forget_expired(&mut self) {
        while let Some((at, partition, key)) = self.expiring.first().cloned() {
            if !at.has_come(self.now) {
                return;
            }
            self.erase(partition, &key);
        }
    }
}
