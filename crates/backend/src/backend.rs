//! The contract.

use async_trait::async_trait;
use ff_core::ledger::LedgerCall;
use ff_core::time::Timestamp;

use crate::due::{Due, DuePage};
use crate::error::Result;
use crate::frames::{Append, AppendError, Appended, FrameRange, Frames};
use crate::hint::HintStream;
use crate::ledger::LedgerReply;
use crate::load::{Load, Snapshot};
use crate::query::{Page, Query};
use crate::reserve::{Reservation, Reserve};
use crate::settings::{SettingsOp, SettingsReply};
use crate::transaction::{CommitError, Committed, Transaction};

/// A store of records, indexes and counters.
///
/// Promises every implementation keeps; the conformance suite tries each of them:
///
/// * **Time.** Every reply carries the store's time, and no moment is compared with any other clock. For a process and for a
///   record it never goes back; a store with one clock per partition lets it never go back within one.
/// * **Derived places.** After a commit a record is in exactly the queue [`ff_core::machine::placement::queue_of`] names, due exactly
///   at [`ff_core::machine::placement::due_at`], and in the lists its writings entered and did not leave
///   ([`crate::transaction::Put::moves`]). Nothing else enters or leaves a list.
/// * **Order.** Exact inside a partition, but for what another call is changing at that moment. Across partitions a list is exact;
///   a claim may be off by what one claim takes and by what a process has not heard yet. A store with one writer is exact
///   everywhere.
/// * **Counts.** How many queues a lane has guards, and does not bill: a store with many writers may go by what it has heard. How
///   many executions of a lane are in which state is exact once nothing is written.
/// * **Bytes.** Every payload comes back byte for byte.
/// * **Generations.** Whoever loses writes it had acknowledged has a generation it never had before, from the moment the loss
///   can be seen. It stays the same for as long as nothing is lost, unless a store cannot tell a restart from a loss.
/// * **Unknown outcomes.** A call whose reply may have been lost answers [`crate::Error::Unknown`], never that it failed.
///   Every call is safe to repeat: a commit by its versions, the others by the ids they carry.
/// * **Unreadable records.** A record that cannot be read fails whoever asks for it, and nothing that concerns others: `reserve`
///   takes it out of its queue, leaves it due and goes on; a range and an audit leave it out. What belongs to one thing (its members,
///   edges, parts: [`ff_core::machine::index::Index::must_be_whole`]) is not listed without it, because whoever believed such a
///   list to be whole would forget it.
/// * **Bounded.** No call's cost grows with what is stored, only with what it is asked for.
#[async_trait]
pub trait Backend: Send + Sync + 'static {
    /// Reads records, counters and blobs. Each load sees its partition at one moment, the gates it brings along too; a nudge
    /// is read before the counters.
    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>>;

    /// Commits unrelated transactions, each all or nothing, answering each in order. One that fails does not keep the others
    /// from landing.
    ///
    /// A transaction lands if the partition still has the generation it names, if every guard, put and delete finds the
    /// version it names, and then only before its `not_after`; in this order. The first record that does not is reported with
    /// the version it has.
    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>>;

    /// Takes the best eligible executions a worker can run, in one atomic step per partition: what
    /// [`ff_core::machine::claim::hand_out`] says, field by field.
    ///
    /// Lanes are tried in order; inside a lane the order is priority, then age, then id. It changes no list. Work whose capabilities the worker
    /// lacks, or whose budget or quota is closed, costs nothing. At most [`ff_core::limits::RESERVE_BYTES_MAX`] of input is
    /// handed out, and at least one execution if there is one. Two callers never get the same execution.
    ///
    /// A repeated call takes other executions; those of a lost reply come back when their short lease or grant ends.
    async fn reserve(&self, ask: Reserve) -> Result<Reservation>;

    /// What is due by the store's clock in these partitions, longest overdue first. A nudged record is due at once.
    async fn due(&self, ask: Due) -> Result<DuePage>;

    /// One page of a listing. A listing sees every commit that was answered before it. Rows that stay are seen exactly
    /// once by following the cursors, whatever is written meanwhile. A listing of partitions takes any number of them, so
    /// that a sweep over all is one call.
    async fn list(&self, query: Query) -> Result<Page>;

    /// Calls on accounts, each one atomic over its path: what [`crate::ledger::apply`] does. Those on one account happen in
    /// their order. An account is due at the moment its head names, and whenever its generation moves whoever waits for it is
    /// told.
    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>>;

    /// Appends frames, each one only under the live lease it names. A repeated one that carries a key is recognised by it,
    /// once the lease has been checked.
    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>>;

    /// Reads frames, the summary and the end of a stream.
    async fn read(&self, range: FrameRange) -> Result<Frames>;

    /// Reads and writes small shared state, each operation atomic.
    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>>;

    /// Wake-ups from now on.
    fn hints(&self) -> HintStream;

    /// The store's time; proves that it answers.
    async fn ping(&self) -> Result<Timestamp>;
}
