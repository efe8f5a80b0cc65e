//! Reading records, counters and blobs of one partition at one moment.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::id::ExecutionId;
use ff_core::partition::Partition;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, CounterKey, Edge, Execution, Flow, Gate, Record, RecordKey, Signal, Step, Waitpoint};
use ff_core::time::Timestamp;

use crate::transaction::{Generation, NudgeStamp, Version};

/// What to read of one partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Where.
    pub partition: Partition,
    /// Which records.
    pub records: Vec<RecordKey>,
    /// Which counters.
    pub counters: Vec<CounterKey>,
    /// Which blobs.
    pub blobs: Vec<BlobKey>,
    /// Which steps, in the order in which they were recorded.
    pub steps: Vec<LoadSteps>,
    /// Whether every execution that is asked for brings the gate of its flow along, read at the same moment.
    pub with_gates: bool,
}

/// Steps of one execution. They come as records, and their outputs as blobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadSteps {
    /// Whose.
    pub execution_id: ExecutionId,
    /// From this place on.
    pub from_seq: u64,
    /// At most this many.
    pub limit: usize,
    /// The outputs of the first ones of them, as many as have this many bytes together.
    pub output_bytes: u64,
}

/// A partition as it stood at one moment, as far as was asked. What does not exist is absent, except that every counter
/// asked for is there: one that was never moved is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Where.
    pub partition: Partition,
    /// The store's time.
    pub now: Timestamp,
    /// The generation of the partition.
    pub generation: Generation,
    /// Records with their versions.
    pub records: BTreeMap<RecordKey, (Record, Version)>,
    /// Counters.
    pub counters: BTreeMap<CounterKey, i64>,
    /// Blobs.
    pub blobs: BTreeMap<BlobKey, Payload>,
    /// The nudges of the records asked for, read before the counters.
    pub nudges: BTreeMap<RecordKey, NudgeStamp>,
    /// Something is decided from rows that were listed after it. A row that is not there has no version, so the commit must be
    /// of this generation: in another one it may be there again.
    pub listed: bool,
}

impl Load {
    /// Reads these records.
    pub fn records(partition: Partition, records: impl Into<Vec<RecordKey>>) -> Self {
        Self {
            partition,
            records: records.into(),
            counters: Vec::new(),
            blobs: Vec::new(),
            steps: Vec::new(),
            with_gates: false,
        }
    }

    /// Reads the gates of the flows that the executions are members of too.
    #[must_use]
    pub const fn with_gates(mut self) -> Self {
        self.with_gates = true;
        self
    }

    /// Reads these counters too.
    #[must_use]
    pub fn with_counters(mut self, counters: impl IntoIterator<Item = CounterKey>) -> Self {
        self.counters.extend(counters);
        self
    }

    /// Reads these steps too.
    #[must_use]
    pub fn with_steps(mut self, steps: impl IntoIterator<Item = LoadSteps>) -> Self {
        self.steps.extend(steps);
        self
    }

    /// Reads these blobs too.
    #[must_use]
    pub fn with_blobs(mut self, blobs: impl IntoIterator<Item = BlobKey>) -> Self {
        self.blobs.extend(blobs);
        self
    }
}

macro_rules! typed {
    ($(#[$doc:meta])* $name:ident -> $type:ty, $variant:ident) => {
        $(#[$doc])*
        pub fn $name(&self, key: &RecordKey) -> Option<&$type> {
            match self.records.get(key) {
                Some((Record::$variant(record), _)) => Some(record),
                _ => None,
            }
        }
    };
}

impl Snapshot {
    /// An empty snapshot of `partition` at `now`, in the first generation: whoever reads counters into it says in which.
    pub fn empty(partition: Partition, now: Timestamp) -> Self {
        Self {
            partition,
            now,
            generation: Generation::default(),
            records: BTreeMap::new(),
            counters: BTreeMap::new(),
            blobs: BTreeMap::new(),
            nudges: BTreeMap::new(),
            listed: false,
        }
    }

    /// The gates of the flows that its executions are members of.
    pub fn gates(&self) -> BTreeSet<RecordKey> {
        let flow = |record: &Record| match record {
            Record::Execution(execution) => execution.definition.flow,
            _ => None,
        };
        let records = self.records.values();
        records
            .filter_map(|(record, _)| flow(record))
            .map(RecordKey::Gate)
            .collect()
    }

    /// The version a record was read with.
    pub fn version(&self, key: &RecordKey) -> Option<Version> {
        self.records.get(key).map(|(_, version)| *version)
    }

    /// A counter's value.
    pub fn counter(&self, key: CounterKey) -> i64 {
        self.counters.get(&key).copied().unwrap_or(0)
    }

    typed!(
        /// An execution that was asked for.
        execution -> Execution, Execution
    );
    typed!(
        /// A flow that was asked for.
        flow -> Flow, Flow
    );
    typed!(
        /// A gate that was asked for.
        gate -> Gate, Gate
    );
    typed!(
        /// An edge that was asked for.
        edge -> Edge, Edge
    );
    /// The steps of an execution that were read, in the order in which they were recorded.
    pub fn steps(&self, execution_id: ExecutionId) -> Vec<&Step> {
        let records = self.records.values().map(|(record, _)| record);
        let mut steps: Vec<&Step> = records
            .filter_map(|record| match record {
                Record::Step(step) => Some(&**step),
                _ => None,
            })
            .filter(|step| step.execution_id == execution_id)
            .collect();
        steps.sort_unstable_by_key(|step| step.seq);
        steps
    }

    typed!(
        /// A step that was asked for.
        step -> Step, Step
    );
    typed!(
        /// A signal that was asked for.
        signal -> Signal, Signal
    );
    typed!(
        /// A waitpoint that was asked for.
        waitpoint -> Waitpoint, Waitpoint
    );
}
