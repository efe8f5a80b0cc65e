//! Listings: bounded pages with stable cursors.

mod range;

use ff_core::ledger::{AccountKey, AccountKind};
use ff_core::limits::PAGE_MAX;
use ff_core::machine::index::Entry;
use ff_core::machine::placement::{QueueKey, Score};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::record::{Edge, Execution, Flow, HistoryLine, HistorySubject, Record, Signal, Waitpoint};
use ff_core::state::PublicState;
use ff_core::time::{Duration, Timestamp};
use std::collections::BTreeMap;

use crate::transaction::Version;

pub use self::range::{Head, HeadsOf, Range};

/// Asks for one page of a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Of what.
    pub of: Listing,
    /// After this place; `None`: from the beginning. A feed is read without: its question names the positions.
    pub after: Option<Cursor>,
    /// At most this many rows, at least 1. A page may be shorter, or empty, and still have a next one: a store may stop
    /// early rather than scan for long.
    pub limit: usize,
}

impl Query {
    /// Rows a page has at most.
    pub fn page_limit(&self) -> usize {
        self.limit.clamp(1, PAGE_MAX)
    }
}

/// A place in a listing, meaningful only to the backend that gave it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cursor(pub String);

/// What can be listed.
#[derive(Clone, Debug, PartialEq)]
pub enum Listing {
    /// Records of lists, in their order across the partitions.
    Range(Range),
    /// Which lists of a kind have anything in these partitions, by partition and name.
    Heads {
        /// Of which kind.
        of: HeadsOf,
        /// Where.
        partitions: Vec<Partition>,
        /// So many entries of each list are counted in each partition at most; 0: none.
        count: u64,
    },
    /// The history of an execution or flow, oldest first.
    History(HistorySubject),
    /// The feeds of partitions, each named once with where it is read from. Oldest first inside a partition, in any order
    /// across them, but so that no feed, however long, keeps the lines of another from ever being seen.
    ///
    /// There are no cursors: a page has no next one, and a reader goes on by asking again with the last positions it saw,
    /// until a page is empty. A feed that dropped a line the reader has not seen refuses.
    Feed(Vec<(Partition, FeedStart)>),
    /// A number for each of the partitions, in their order and on one page: another one once the feed of the partition or one of
    /// its streams has grown or ended. It may change without that, too.
    ///
    /// It is how whoever waits for hints finds out that one was lost, at a cost that does not depend on how many wait.
    Marks(Vec<Partition>),
    /// Lanes of a namespace with their depths, by name.
    Lanes(Namespace),
    /// Accounts of one kind that a namespace's lists show, by key.
    Accounts {
        /// Of which kind.
        kind: AccountKind,
        /// The tenant.
        namespace: Namespace,
    },
    /// Records of a partition with the index entries the store keeps for them, each once, in an order of the store's own.
    Audit(Partition),
}

impl Listing {
    /// What the cursors of this kind of listing begin with, so that one of another kind is told from it. Feeds and marks have none.
    pub const fn cursor_prefix(&self) -> &'static str {
        match self {
            Listing::Range(_) => range::PREFIX,
            Listing::Heads { .. } => "heads:",
            Listing::History(_) => "history:",
            Listing::Feed(_) => "feed:",
            Listing::Marks(_) => "marks:",
            Listing::Lanes(_) => "lanes:",
            Listing::Accounts { .. } => "accounts:",
            Listing::Audit(_) => "audit:",
        }
    }
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The store's time.
    pub now: Timestamp,
    /// The rows.
    pub rows: Rows,
    /// Where to go on; `None`: that was all.
    pub next: Option<Cursor>,
}

/// The rows of a page; which kind follows from the listing.
#[derive(Clone, Debug, PartialEq)]
pub enum Rows {
    /// Of a range.
    Records(Vec<(Record, Version)>),
    /// Of heads.
    Heads(Vec<Head>),
    /// Of a history.
    History(Vec<HistoryLine>),
    /// Of feeds.
    Feed(Vec<FeedLine>),
    /// Of marks.
    Marks(Vec<(Partition, u64)>),
    /// Of lanes.
    Lanes(Vec<LaneDepth>),
    /// Of accounts.
    Accounts(Vec<AccountKey>),
    /// Of an audit.
    Audit(Vec<AuditRow>),
}

/// A place in a partition's feed: two numbers whose meaning is the store's own. Later lines have greater ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeedPosition {
    /// Compared first.
    pub major: u64,
    /// Tells places with one major number apart.
    pub minor: u64,
}

/// From where a feed is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedStart {
    /// From the oldest line kept: the reader begins.
    Oldest,
    /// From the oldest line that was kept at this moment, the `now` of the reader's first page: it has seen no line of this
    /// feed since.
    Since(Timestamp),
    /// From the first line of this moment or later: the reader wants no earlier one, and has seen none of these.
    From(Timestamp),
    /// After the last line the reader saw.
    After(FeedPosition),
}

/// How long a feed keeps a line at least, unless there are too many.
pub const FEED_KEPT_FOR: Duration = Duration::from_hours(24);

/// The last line a feed dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedTrim {
    /// When it was written.
    pub written_at: Timestamp,
    /// When it was dropped.
    pub dropped_at: Timestamp,
}

impl FeedTrim {
    /// Whether a reader who wants the feed from there on, and has seen no line of it, misses the line. A line whose time was
    /// over when the reader began belongs to nobody any more, whenever it is dropped.
    pub fn is_missed_from(self, start: FeedStart) -> bool {
        match start {
            FeedStart::Oldest | FeedStart::After(_) => false,
            FeedStart::Since(began) => self.dropped_at >= began && !(self.written_at + FEED_KEPT_FOR).has_come(began),
            FeedStart::From(at) => self.written_at >= at,
        }
    }
}

/// A line of a partition's feed with its place.
pub type FeedLine = (Partition, FeedPosition, HistoryLine);

/// How much of a lane is in which state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneDepth {
    /// The lane.
    pub lane: LaneId,
    /// Executions by state.
    pub depth: BTreeMap<PublicState, u64>,
    /// When the oldest execution that waits for a worker was created.
    pub oldest_eligible: Option<Timestamp>,
}

/// A record with what the store keeps for it. It must equal what [`ff_core::machine`] says.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditRow {
    /// The record.
    pub record: Record,
    /// The queue it waits in, and where in it.
    pub queue: Option<(QueueKey, Score)>,
    /// Its entry in the due index.
    pub due_at: Option<Timestamp>,
    /// The lists of [`ff_core::machine::index::entries`] that it should stand in and does not.
    pub missing: Vec<Entry>,
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident, $variant:ident -> $type:ty;)+) => {
        impl Page {
            $(
                $(#[$doc])*
                pub fn $name(self) -> Vec<$type> {
                    match self.rows {
                        Rows::$variant(rows) => rows,
                        // An empty answer would hide work from whoever asked the wrong question.
                        _ => panic!(concat!("this page has no rows of ", stringify!($variant))),
                    }
                }
            )+
        }
    };
}

rows! {
    /// The rows of a page of a range.
    records, Records -> (Record, Version);
    /// The rows of a page of heads.
    heads, Heads -> Head;
    /// The rows of a page of history.
    history, History -> HistoryLine;
    /// The rows of a page of feeds.
    feed, Feed -> FeedLine;
    /// The rows of a page of marks.
    marks, Marks -> (Partition, u64);
    /// The rows of a page of lanes.
    lanes, Lanes -> LaneDepth;
    /// The rows of a page of accounts.
    accounts, Accounts -> AccountKey;
    /// The rows of a page of an audit.
    audit, Audit -> AuditRow;
}

macro_rules! records {
    ($($(#[$doc:meta])* $name:ident, $variant:ident -> $type:ty;)+) => {
        impl Page {
            $(
                $(#[$doc])*
                pub fn $name(self) -> Vec<($type, Version)> {
                    let rows = self.records().into_iter();
                    let row = |(record, version)| match record {
                        Record::$variant(record) => (*record, version),
                        // Left out, it would be hidden from whoever asked the wrong question.
                        _ => panic!(concat!("this page has other records than ", stringify!($variant))),
                    };
                    rows.map(row).collect()
                }
            )+
        }
    };
}

records! {
    /// The rows of a range of executions.
    executions, Execution -> Execution;
    /// The rows of a range of flows.
    flows, Flow -> Flow;
    /// The rows of a range of edges.
    edges, Edge -> Edge;
    /// The rows of a range of waitpoints.
    waitpoints, Waitpoint -> Waitpoint;
    /// The rows of a range of signals.
    signals, Signal -> Signal;
}
