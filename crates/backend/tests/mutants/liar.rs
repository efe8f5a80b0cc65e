//! A store that does not tell, or is not told, the truth: each lie breaks one promise between the caller and an honest
//! store. What only the inside of a store can get wrong is a [`ff_backend::memory::Flaw`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use ff_backend::budget::{BudgetCall, BudgetReply};
use ff_backend::due::{Due, DuePage};
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames, Keep};
use ff_backend::hint::HintStream;
use ff_backend::load::{Load, Snapshot};
use ff_backend::memory::MemoryBackend;
use ff_backend::query::{Cursor, FeedStart, Listing, Page, Query, Rows};
use ff_backend::quota::{QuotaCall, QuotaReply};
use ff_backend::reserve::{Reservation, Reserve, Task};
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Generation, Tag, Transaction};
use ff_backend::{Backend, Error, Result};
use ff_core::machine::claim::HandOut;
use ff_core::name::{ContentType, IdempotencyKey};
use ff_core::partition::Partition;
use ff_core::payload::Payload;
use ff_core::record::UsageIdentity;
use ff_core::time::{Duration, Timestamp};

macro_rules! lies {
    ($($(#[$doc:meta])+ $name:ident,)+) => {
        /// A promise that is broken on the way to or from the store.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Lie {
            $($(#[$doc])+ $name,)+
        }

        impl Lie {
            /// Every lie there is.
            pub(crate) const ALL: &[Lie] = &[$(Lie::$name,)+];
        }
    };
}

lies! {
    /// Blobs, history, streams and counters of a deleted execution stay.
    RemainsStay,
    /// Deleted records stay.
    DeletesForgotten,
    /// A transaction lands in the very moment it is refused from.
    NotAfterOneTooLate,
    /// Whatever opens a queue is limited, not only submissions.
    QueueLimitOnEveryCommit,
    /// Lines of one transaction are told backwards.
    HistoryBackwards,
    /// Evaluated nudges stay.
    NudgesNeverCleared,
    /// Streams never end.
    StreamEndsForgotten,
    /// Tags lose their upper bits.
    TagsTruncated,
    /// Records are gone before their time.
    TtlTooShort,
    /// What bytes mean is forgotten.
    ContentTypeLost,
    /// A conflict does not say which version there is.
    ConflictForgetsVersion,
    /// Counters move, but the reply does not say so.
    CountersNotAnswered,
    /// Transactions of a batch get each other's answers.
    AnswersReversed,
    /// Commits are answered with a time long past.
    TimeGoesBack,
    /// Loads get each other's answers.
    LoadsReversed,
    /// Blobs are not read.
    LoadForgetsBlobs,
    /// Nudges are not read.
    LoadForgetsNudges,
    /// Counters are read as zero.
    LoadForgetsCounters,
    /// Counters that never moved are left out.
    LoadSkipsZeroCounters,
    /// Every load is of a generation of its own.
    LoadInventsGenerations,
    /// Gates do not come along.
    LoadForgetsGates,
    /// The gates of all members come along unasked.
    LoadAddsGates,
    /// The last lane named is tried first.
    LanesReversed,
    /// The last claimant is used first.
    ClaimantsReversed,
    /// A lease is given although a grant was asked for.
    GrantBecomesLease,
    /// The gate does not come with the task.
    TaskWithoutGate,
    /// The input does not come with the task.
    TaskWithoutInput,
    /// A task comes with the version it had before.
    TaskWithOldVersion,
    /// A reservation looks at everything there is.
    ReserveScansEverything,
    /// A reservation that was cut short looks as if nothing was left.
    HandfulSeemsWhole,
    /// There always seems to be more.
    HandfulSeemsCut,
    /// Nobody is told when the next thing is due.
    DueForgetsNext,
    /// Everything is due since just now.
    DueSinceNow,
    /// What is due elsewhere is answered too.
    DueEverywhere,
    /// Listings end after their first page.
    ListEndsEarly,
    /// Pages are longer than asked for.
    PageTooLong,
    /// The rows of a page are backwards.
    PageBackwards,
    /// Only the first of many partitions is listed.
    OnePartitionListed,
    /// The queues and causes of a page are backwards.
    SweepsBackwards,
    /// Any text is taken for a cursor.
    CursorUnchecked,
    /// A reader that fell behind is not told.
    FeedGapHidden,
    /// A feed is read from its beginning wherever the reader stands.
    FeedPositionsIgnored,
    /// What was dropped from a feed before a reader saw any of it is not told.
    FeedBeginningsForgotten,
    /// A feed is read from its beginning by whoever asks for what comes from a moment on.
    FeedMomentsIgnored,
    /// Only the first of many feeds is read.
    OneFeedRead,
    /// A page of a feed has a next one.
    FeedHasCursors,
    /// Marks stay where they are, whatever grows.
    MarksStandStill,
    /// The wrong feed is named when a position is not held.
    FeedExpiredElsewhere,
    /// The audit leaves records out.
    AuditSkipsRecords,
    /// Calls about budgets get each other's answers.
    BudgetAnswersReversed,
    /// Usage reports are recognised for ever.
    BudgetDedupForever,
    /// Every kind of identity is the same kind.
    BudgetIdentitiesMeet,
    /// A repeated reset resets again.
    BudgetResetsAgain,
    /// An attempt that goes on takes another place.
    QuotaForgetsContinuing,
    /// Every grant takes a place of its own.
    QuotaPlacePerGrant,
    /// Slots are not given back.
    QuotaForgetsRelease,
    /// Best-effort frames stay.
    BestEffortStays,
    /// Old frames stay.
    FrameAgeIgnored,
    /// Frames lose what they were tied to.
    FrameCorrelationLost,
    /// Frames lose the key they are recognised by.
    FrameKeysIgnored,
    /// Nobody is told that a frame was there already.
    FrameRepetitionHidden,
    /// Summaries are frames like others.
    SummaryIgnored,
    /// Ranges begin after their beginning.
    ReadFromExclusive,
    /// Any number of frames is read.
    ReadIgnoresLimit,
    /// Settings outlive their time.
    SettingsTtlIgnored,
    /// Settings are listed whatever their name.
    SettingsPrefixIgnored,
    /// Lists of settings always start at the beginning.
    SettingsAfterIgnored,
    /// Settings are never deleted.
    SettingsNeverDeleted,
}

/// An honest store behind a liar.
pub(crate) struct Liar {
    honest: Arc<MemoryBackend>,
    lie: Lie,
    /// Transactions so far.
    committed: AtomicU64,
    /// What reservations looked at in vain.
    scanned: AtomicU64,
}

impl Liar {
    /// Tells `lie` about `honest`.
    pub(crate) fn new(honest: Arc<MemoryBackend>, lie: Lie) -> Self {
        let (committed, scanned) = (AtomicU64::new(0), AtomicU64::new(0));
        Self {
            honest,
            lie,
            committed,
            scanned,
        }
    }

    /// What reservations looked at besides what the store counts.
    pub(crate) fn scanned(&self) -> u64 {
        self.scanned.load(Ordering::Relaxed)
    }

    fn tells(&self, lie: Lie) -> bool {
        self.lie == lie
    }

    fn distort_transaction(&self, transaction: &mut Transaction) {
        match self.lie {
            Lie::RemainsStay => transaction.delete_remains.clear(),
            Lie::DeletesForgotten => transaction.deletes.clear(),
            Lie::NotAfterOneTooLate => {
                transaction.not_after = transaction.not_after.map(|at| at + Duration::from_millis(1));
            }
            Lie::QueueLimitOnEveryCommit => transaction.limits_queues = true,
            Lie::HistoryBackwards => transaction.history.reverse(),
            Lie::NudgesNeverCleared => transaction.clear_nudges.clear(),
            Lie::StreamEndsForgotten => transaction.stream_ends.clear(),
            Lie::TagsTruncated => transaction.tag = Tag(transaction.tag.0 & ((1 << 53) - 1)),
            Lie::TtlTooShort => {
                let halved = |ttl: Duration| Duration::from_millis(ttl.as_millis() / 2);
                transaction
                    .puts
                    .iter_mut()
                    .for_each(|put| put.ttl = put.ttl.map(halved));
            }
            Lie::ContentTypeLost => {
                transaction
                    .blobs
                    .iter_mut()
                    .for_each(|(_, blob)| blob.content_type = ContentType::binary());
            }
            _ => {}
        }
    }

    fn distort_committed(&self, answer: &mut std::result::Result<Committed, CommitError>) {
        match (self.lie, answer) {
            (Lie::ConflictForgetsVersion, Err(CommitError::Conflict { found, .. })) => *found = None,
            (Lie::CountersNotAnswered, Ok(committed)) => committed.counters.clear(),
            (Lie::TimeGoesBack, Ok(committed)) => committed.now = committed.now - Duration::from_hours(1),
            _ => {}
        }
    }

    fn distort_load(&self, load: &mut Load) {
        match self.lie {
            Lie::LoadForgetsGates => load.with_gates = false,
            Lie::LoadAddsGates => load.with_gates = true,
            _ => {}
        }
    }

    fn distort_snapshot(&self, snapshot: &mut Snapshot) {
        match self.lie {
            Lie::LoadForgetsBlobs => snapshot.blobs.clear(),
            Lie::LoadForgetsNudges => snapshot.nudges.clear(),
            Lie::LoadForgetsCounters => snapshot.counters.clear(),
            Lie::LoadSkipsZeroCounters => snapshot.counters.retain(|_, value| *value != 0),
            Lie::LoadInventsGenerations => snapshot.generation = Generation(snapshot.now.as_millis()),
            _ => {}
        }
    }

    fn distort_ask(&self, ask: &mut Reserve) {
        match self.lie {
            Lie::LanesReversed => ask.lanes.reverse(),
            Lie::ClaimantsReversed => ask.claimants.reverse(),
            Lie::GrantBecomesLease => ask.mode = HandOut::Lease,
            _ => {}
        }
    }

    fn distort_task(&self, task: &mut Task) {
        match self.lie {
            Lie::TaskWithoutGate => task.gate = None,
            Lie::TaskWithoutInput => task.input = Payload::default(),
            Lie::TaskWithOldVersion => task.version.counter -= 1,
            _ => {}
        }
    }

    fn distort_due(&self, page: &mut DuePage) {
        match self.lie {
            Lie::DueForgetsNext => page.next = None,
            Lie::DueSinceNow => page.items.iter_mut().for_each(|item| item.due_at = page.now),
            _ => {}
        }
    }

    fn distort_page(&self, page: &mut Page) {
        match (self.lie, &mut page.rows) {
            (Lie::ListEndsEarly, _) => page.next = None,
            (Lie::FeedHasCursors, Rows::Feed(_)) => page.next = Some(Cursor("feed:".to_owned())),
            (Lie::MarksStandStill, Rows::Marks(rows)) => rows.iter_mut().for_each(|(_, mark)| *mark = 0),
            (Lie::SweepsBackwards, Rows::Marks(rows)) => rows.reverse(),
            (Lie::SweepsBackwards, Rows::Causes(rows)) => rows.reverse(),
            (Lie::SweepsBackwards, Rows::Queues(rows)) => rows.reverse(),
            (Lie::PageBackwards, Rows::Executions(rows)) => rows.reverse(),
            (Lie::PageBackwards, Rows::Flows(rows)) => rows.reverse(),
            (Lie::PageBackwards, Rows::Edges(rows)) => rows.reverse(),
            (Lie::AuditSkipsRecords, Rows::Audit(rows)) => drop(rows.pop()),
            _ => {}
        }
    }

    fn distort_listing(&self, of: &mut Listing) {
        match (self.lie, of) {
            (
                Lie::OnePartitionListed,
                Listing::Blocked { partitions, .. }
                | Listing::QueuedUnder { partitions, .. }
                | Listing::LeasedUnder { partitions, .. }
                | Listing::BlockedCauses(partitions)
                | Listing::Marks(partitions)
                | Listing::Queues(partitions),
            ) => partitions.truncate(1),
            (Lie::OneFeedRead, Listing::Feed(asked)) => asked.truncate(1),
            (Lie::FeedPositionsIgnored, Listing::Feed(asked)) => from_the_beginning(asked),
            (Lie::FeedBeginningsForgotten, Listing::Feed(asked)) => {
                let unseen = asked
                    .iter_mut()
                    .filter(|(_, start)| matches!(start, FeedStart::Since(_)));
                unseen.for_each(|(_, start)| *start = FeedStart::Oldest);
            }
            (Lie::FeedMomentsIgnored, Listing::Feed(asked)) => {
                let from_then = asked
                    .iter_mut()
                    .filter(|(_, start)| matches!(start, FeedStart::From(_)));
                from_then.for_each(|(_, start)| *start = FeedStart::Oldest);
            }
            _ => {}
        }
    }

    fn distort_refusal(&self, error: Error) -> Error {
        match (self.lie, error) {
            (Lie::FeedExpiredElsewhere, Error::CursorExpired { oldest, .. }) => Error::CursorExpired {
                partition: Partition::flow(u16::MAX),
                oldest,
            },
            (_, error) => error,
        }
    }

    fn distort_budget_call(&self, call: &mut BudgetCall) {
        match (self.lie, call) {
            (Lie::BudgetDedupForever, BudgetCall::Report { report, .. }) => {
                report.dedup_window = Duration::from_hours(24 * 365);
            }
            (Lie::BudgetIdentitiesMeet, BudgetCall::Report { report, .. }) => {
                report.identity = report.identity.take().map(as_key);
            }
            (Lie::BudgetResetsAgain, BudgetCall::Reset { command, .. }) => command.request_id = None,
            _ => {}
        }
    }

    fn distort_quota_call(&self, call: &mut QuotaCall) {
        match (self.lie, &mut *call) {
            (Lie::QuotaForgetsContinuing, QuotaCall::Admit { ask, .. }) => ask.continues = false,
            (Lie::QuotaPlacePerGrant, QuotaCall::Admit { ask, .. }) => {
                ask.attempt_index = ask.grant_id.uuid().as_fields().0;
            }
            (Lie::QuotaForgetsRelease, QuotaCall::Release { grant_id, .. }) => {
                *grant_id = ff_core::id::GrantId::from_uuid(uuid::Uuid::max());
            }
            _ => {}
        }
    }

    fn distort_append(&self, append: &mut Append) {
        match (self.lie, &append.frame.mode) {
            (Lie::BestEffortStays, Keep::BestEffort { .. }) | (Lie::SummaryIgnored, Keep::Summary { .. }) => {
                append.frame.mode = Keep::Durable;
            }
            (Lie::FrameAgeIgnored, _) => append.keep_for = None,
            (Lie::FrameKeysIgnored, _) => append.frame.key = None,
            (Lie::FrameCorrelationLost, _) => append.frame.correlation_id = None,
            (Lie::ContentTypeLost, _) => append.frame.payload.content_type = ContentType::binary(),
            _ => {}
        }
    }

    fn distort_appended(&self, answer: &mut std::result::Result<Appended, AppendError>) {
        if let (Lie::FrameRepetitionHidden, Ok(appended)) = (self.lie, answer) {
            appended.repeated = false;
        }
    }

    fn distort_setting(&self, op: &mut SettingsOp) {
        match (self.lie, &mut *op) {
            (Lie::SettingsTtlIgnored, SettingsOp::Put { ttl, .. }) => *ttl = None,
            (Lie::SettingsPrefixIgnored, SettingsOp::List { prefix, .. }) => prefix.clear(),
            (Lie::SettingsAfterIgnored, SettingsOp::List { after, .. }) => *after = None,
            (Lie::SettingsNeverDeleted, SettingsOp::Delete { key, .. }) => *op = SettingsOp::Get { key: key.clone() },
            _ => {}
        }
    }
}

fn from_the_beginning(asked: &mut [(Partition, FeedStart)]) {
    asked.iter_mut().for_each(|(_, start)| *start = FeedStart::Oldest);
}

fn as_key(identity: UsageIdentity) -> UsageIdentity {
    let text = match identity {
        UsageIdentity::Key(key) => key.to_string(),
        UsageIdentity::Request(id) | UsageIdentity::Call(_, id) => id.to_string(),
        UsageIdentity::Effect(id) => id.to_string(),
    };
    UsageIdentity::Key(IdempotencyKey::parse(text).expect("a key"))
}

#[async_trait]
impl Backend for Liar {
    async fn load(&self, mut loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        loads.iter_mut().for_each(|load| self.distort_load(load));
        let mut snapshots = self.honest.load(loads).await?;
        snapshots
            .iter_mut()
            .for_each(|snapshot| self.distort_snapshot(snapshot));
        if self.tells(Lie::LoadsReversed) {
            snapshots.reverse();
        }
        Ok(snapshots)
    }

    async fn commit(&self, mut batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        batch
            .iter_mut()
            .for_each(|transaction| self.distort_transaction(transaction));
        self.committed.fetch_add(batch.len() as u64, Ordering::Relaxed);
        let mut answers = self.honest.commit(batch).await;
        answers.iter_mut().for_each(|answer| self.distort_committed(answer));
        if self.tells(Lie::AnswersReversed) {
            answers.reverse();
        }
        answers
    }

    async fn reserve(&self, mut ask: Reserve) -> Result<Reservation> {
        self.distort_ask(&mut ask);
        if self.tells(Lie::ReserveScansEverything) {
            self.scanned
                .fetch_add(self.committed.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        let mut reservation = self.honest.reserve(ask).await?;
        reservation.tasks.iter_mut().for_each(|task| self.distort_task(task));
        match self.lie {
            Lie::HandfulSeemsWhole => reservation.cut = false,
            Lie::HandfulSeemsCut => reservation.cut = true,
            _ => {}
        }
        Ok(reservation)
    }

    async fn due(&self, mut ask: Due) -> Result<DuePage> {
        if self.tells(Lie::DueEverywhere) {
            ask.partitions = (0..256).map(Partition::flow).collect();
        }
        let mut page = self.honest.due(ask).await?;
        self.distort_due(&mut page);
        Ok(page)
    }

    async fn list(&self, mut query: Query) -> Result<Page> {
        query.limit += usize::from(self.tells(Lie::PageTooLong));
        self.distort_listing(&mut query.of);
        let mut from_start = Query {
            after: None,
            ..query.clone()
        };
        if let Listing::Feed(asked) = &mut from_start.of {
            from_the_beginning(asked);
        }
        let mut page = match self.honest.list(query).await {
            Err(Error::InvalidCursor) if self.tells(Lie::CursorUnchecked) => self.honest.list(from_start).await?,
            Err(Error::CursorExpired { .. }) if self.tells(Lie::FeedGapHidden) => self.honest.list(from_start).await?,
            page => page.map_err(|error| self.distort_refusal(error))?,
        };
        self.distort_page(&mut page);
        Ok(page)
    }

    async fn budget(&self, mut calls: Vec<BudgetCall>) -> Vec<Result<BudgetReply>> {
        calls.iter_mut().for_each(|call| self.distort_budget_call(call));
        let mut replies = self.honest.budget(calls).await;
        if self.tells(Lie::BudgetAnswersReversed) {
            replies.reverse();
        }
        replies
    }

    async fn quota(&self, mut calls: Vec<QuotaCall>) -> Vec<Result<QuotaReply>> {
        calls.iter_mut().for_each(|call| self.distort_quota_call(call));
        self.honest.quota(calls).await
    }

    async fn append(&self, mut batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        batch.iter_mut().for_each(|append| self.distort_append(append));
        let mut answers = self.honest.append(batch).await;
        answers.iter_mut().for_each(|answer| self.distort_appended(answer));
        answers
    }

    async fn read(&self, mut range: FrameRange) -> Result<Frames> {
        if self.tells(Lie::ReadFromExclusive) {
            range.from = range.from.after();
        }
        if self.tells(Lie::ReadIgnoresLimit) {
            range.limit = usize::MAX;
        }
        self.honest.read(range).await
    }

    async fn settings(&self, mut ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        ops.iter_mut().for_each(|op| self.distort_setting(op));
        self.honest.settings(ops).await
    }

    fn hints(&self) -> HintStream {
        self.honest.hints()
    }

    async fn ping(&self) -> Result<Timestamp> {
        self.honest.ping().await
    }
}
