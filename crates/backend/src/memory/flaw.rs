//! Deliberately wrong variants of the store: each breaks one promise, so that a test can show that the conformance suite
//! notices. The mistakes that need more than a condition are made here, to keep the honest code readable: without a flaw
//! every function here gives back what it was given.

use std::cmp::Reverse;

use ff_core::capability::CapabilitySet;
use ff_core::id::ExecutionId;
use ff_core::machine::claim::Reserved;
use ff_core::machine::placement::Score;
use ff_core::payload::Payload;
use ff_core::record::{Record, RecordKey, Stored};
use ff_core::time::{Duration, Timestamp};

use super::store::Store;
use crate::due::DueKey;
use crate::reserve::Reserve;
use crate::transaction::{CommitError, Role, Transaction, Version};

macro_rules! flaws {
    ($($(#[$doc:meta])+ $name:ident,)+) => {
        /// A promise the store breaks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[cfg_attr(not(feature = "conformance"), expect(dead_code, unreachable_pub, reason = "made with the suite only"))]
        pub enum Flaw {
            $($(#[$doc])+ $name,)+
        }

        #[cfg(feature = "conformance")]
        impl Flaw {
            /// Every flaw there is.
            pub const ALL: &[Flaw] = &[$(Flaw::$name,)+];
        }
    };
}

flaws! {
    /// Time does not pass.
    ClockStandsStill,
    /// What a later version wrote is dropped when an execution is written.
    LaterMembersForgotten,
    /// Guards are not compared.
    IgnoreGuards,
    /// Versions of replaced and deleted records are not compared.
    IgnoreVersions,
    /// Versions are compared by their counter, whoever wrote them.
    CompareCounterOnly,
    /// A record that must not exist is overwritten.
    AbsentPutOverwrites,
    /// Records outlive their time to live.
    TtlNeverExpires,
    /// A conflict names the last record of the transaction instead of the one that differs.
    ConflictNamesWrongRecord,
    /// What a refused transaction wrote first stays written.
    PartialCommit,
    /// Counters move although the transaction is refused.
    IncrementsOutsideTransaction,
    /// One refused transaction takes those after it in the batch along.
    BatchFailsTogether,
    /// What was decided from counters lands in any generation.
    GenerationIgnored,
    /// A transaction of another generation is refused for a version that differs too.
    GenerationCheckedLast,
    /// Transactions land however late they are.
    NotAfterIgnored,
    /// A late transaction is refused for its time although a version differs.
    NotAfterCheckedFirst,
    /// Any number of queues may be opened.
    QueueLimitIgnored,
    /// An evaluated nudge takes a newer one with it.
    NudgeClearIgnoresStamp,
    /// Nudges are made whatever the counter says.
    NudgeIgnoresZeroCondition,
    /// Payloads are taken for text.
    BlobsThroughUtf8Lossy,
    /// Steps come by their names.
    StepsByName,
    /// The outputs of steps come whatever their size.
    StepOutputsUnbounded,
    /// Bytes are kept for executions that do not exist.
    BlobsOfNobodyKept,
    /// Histories grow without end.
    HistoryUnbounded,
    /// The feed is read backwards.
    FeedNotOrdered,
    /// What people wrote reaches the feed.
    FeedKeepsDetails,
    /// Nothing reaches the feed.
    FeedForgets,
    /// The lines of one partition come before those of the next.
    FeedStarvesOthers,
    /// Everything is handed out as if it had the same priority.
    ReserveIgnoresPriority,
    /// The newest is handed out first.
    ReserveIgnoresAge,
    /// Workers get work they cannot run.
    ReserveIgnoresCapabilities,
    /// Workers get work of other tenants.
    ReserveIgnoresNamespace,
    /// Workers get work of lanes they did not ask for.
    ReserveIgnoresLane,
    /// Work of closed budgets and quotas is handed out.
    ReserveIgnoresClosedCauses,
    /// What was handed out stays where it was.
    ReserveHandsOutTwice,
    /// The epoch does not grow.
    ReserveForgetsEpoch,
    /// A lease or grant has no timer.
    ReserveForgetsDue,
    /// Members of a cancelled flow are leased.
    ReserveIgnoresGate,
    /// Any number of bytes is handed out at once.
    ReserveIgnoresBytes,
    /// What is due is answered backwards.
    DueUnordered,
    /// All that is due is answered.
    DueIgnoresLimit,
    /// Nudges are not due.
    DueForgetsNudges,
    /// Listings show everything.
    ListFiltersIgnored,
    /// A cursor counts rows instead of naming a place.
    ListCursorByOffset,
    /// What is listed over partitions comes one partition after the other.
    ListPartitionByPartition,
    /// Anybody may append frames.
    FrameFenceIgnored,
    /// Streams keep every frame.
    FrameTrimIgnored,
    /// Frames are read backwards.
    FrameOrderLost,
    /// A summary is overwritten whatever it was merged into.
    SummaryLastWriterWins,
    /// A repeated frame is judged by the summary as it is now.
    SummaryJudgedBeforeKey,
    /// A repeated frame is answered whoever repeats it.
    FrameKeyBeforeFence,
    /// Frames are recognised by their key whatever their stream.
    FrameKeysMeet,
    /// Nobody is told that a stream ended.
    StreamEndNotHinted,
    /// Nobody is told anything.
    HintsNeverSent,
    /// Settings are written whatever they are.
    SettingsIgnoreExpected,
    /// Nobody is told that a budget or quota has a new generation.
    CauseNotHinted,
    /// A repeated usage report counts again.
    BudgetCountsRepetitions,
    /// Usage above a hard limit is not recorded.
    BudgetRefusesBreaches,
    /// Budgets are never due.
    BudgetForgetsDue,
    /// Budgets of other tenants are listed.
    BudgetListsOtherNamespaces,
    /// Quotas admit without limit and take nothing.
    QuotaAdmitsEverybody,
    /// A grant released before it was admitted is admitted later.
    QuotaForgetsReleases,
    /// Quotas are never due.
    QuotaForgetsDue,
}

impl Store {
    /// What is written of a record.
    pub(super) fn remembered(&self, mut record: Record) -> Record {
        if let Record::Execution(execution) = &mut record
            && self.flawed(Flaw::LaterMembersForgotten)
        {
            execution.carry(Default::default());
        }
        record
    }

    /// Whether a difference of versions goes unnoticed.
    pub(super) fn overlooks(&self, role: Role, expected: Option<Version>, found: Option<Version>) -> bool {
        match self.flaw {
            Some(Flaw::IgnoreGuards) => role == Role::Guard,
            Some(Flaw::IgnoreVersions) => role != Role::Guard && expected.is_some(),
            Some(Flaw::CompareCounterOnly) => expected.map(|v| v.counter) == found.map(|v| v.counter),
            Some(Flaw::AbsentPutOverwrites) => role == Role::Put && expected.is_none(),
            _ => false,
        }
    }

    /// What comes of a refused transaction: nothing but its refusal.
    pub(super) fn mishandled(&mut self, transaction: &Transaction, refusal: CommitError) -> CommitError {
        let at = transaction.partition;
        match (self.flaw, refusal) {
            (Some(Flaw::PartialCommit), refusal) => {
                for put in &transaction.puts {
                    if self.version(at, &put.record.key()) == put.expected {
                        self.put(at, put.clone(), transaction.tag);
                    }
                }
                refusal
            }
            (Some(Flaw::IncrementsOutsideTransaction), refusal) => {
                self.move_counters(at, &transaction.increments);
                refusal
            }
            (Some(Flaw::ConflictNamesWrongRecord), CommitError::Conflict { key, found }) => {
                let last = transaction.expectations().last().map_or(key, |(_, key, _)| key);
                CommitError::Conflict { key: last, found }
            }
            (_, refusal) => refusal,
        }
    }

    /// The place of an execution in its queue.
    pub(super) fn misplaced(&self, score: Score) -> Score {
        match self.flaw {
            Some(Flaw::ReserveIgnoresPriority) => Score {
                priority: Reverse(0),
                ..score
            },
            Some(Flaw::ReserveIgnoresAge) => {
                let age = Duration::from_millis(score.created_at.as_millis());
                Score {
                    created_at: Timestamp::MAX - age,
                    ..score
                }
            }
            _ => score,
        }
    }

    /// What a worker asks for.
    pub(super) fn misheard(&self, mut ask: Reserve) -> Reserve {
        match self.flaw {
            Some(Flaw::ReserveIgnoresCapabilities) => {
                let required = self.queues.keys().flat_map(|queue| queue.signature.capabilities.iter());
                ask.capabilities = CapabilitySet::parse(required).unwrap_or(ask.capabilities);
            }
            Some(Flaw::ReserveIgnoresNamespace) => {
                let has_work = self.queues.keys().any(|queue| queue.namespace == ask.namespace);
                let other = self.queues.keys().next().filter(|_| !has_work);
                ask.namespace = other.map_or(ask.namespace, |queue| queue.namespace.clone());
            }
            Some(Flaw::ReserveIgnoresLane) => {
                let queues = self.queues.keys().filter(|queue| queue.namespace == ask.namespace);
                ask.lanes.extend(queues.map(|queue| queue.lane.clone()));
            }
            Some(Flaw::ReserveIgnoresClosedCauses) => ask.closed.clear(),
            _ => {}
        }
        ask
    }

    /// What a reservation makes of an execution.
    pub(super) fn misstamped(&self, mut reserved: Reserved) -> Reserved {
        if self.flawed(Flaw::ReserveForgetsEpoch) {
            reserved.execution.lease_epoch = reserved.execution.lease_epoch.saturating_sub(1);
        }
        reserved
    }

    /// Keeps no timer for what was handed out.
    pub(super) fn forget_timer_if_flawed(&mut self, id: ExecutionId) {
        if self.flawed(Flaw::ReserveForgetsDue) {
            self.schedule(id.partition(), DueKey::Record(RecordKey::Execution(id)), None);
        }
    }

    /// A payload as it is kept.
    pub(super) fn garbled(&self, payload: Payload) -> Payload {
        if !self.flawed(Flaw::BlobsThroughUtf8Lossy) {
            return payload;
        }
        let text = String::from_utf8_lossy(&payload.bytes).into_owned();
        Payload {
            bytes: text.into(),
            ..payload
        }
    }
}
