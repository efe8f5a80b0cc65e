//! What is asked of accounts. Every call is one atomic step over a path of accounts of one partition.

use super::account::AccountKey;
use super::meter::Meter;
use crate::id::{EffectId, ExecutionId, GrantId};
use crate::partition::Partition;
use crate::record::UsageIdentity;
use crate::time::{Duration, Timestamp};

/// One call. Calls on one account happen in their order.
#[derive(Clone, Debug, PartialEq)]
pub enum LedgerCall {
    /// Takes what fits.
    Take(Take),
    /// Uses something.
    Draw(Draw),
    /// Ends a grant.
    Give(Give),
    /// Changes the definition or single numbers.
    Amend(Amend),
    /// Looks at an account.
    Read(Read),
    /// Looks at what grants hold.
    Holds(ReadHolds),
}

impl LedgerCall {
    /// The account that the call is about; the others of its path live in the same partition.
    pub fn account(&self) -> Option<AccountKey> {
        let first = |path: &[(AccountKey, u64)]| path.first().map(|(account, _)| *account);
        match self {
            LedgerCall::Take(take) => first(&take.path),
            LedgerCall::Draw(draw) => first(&draw.path),
            LedgerCall::Give(give) => give.path.first().copied(),
            LedgerCall::Amend(amend) => Some(amend.account),
            LedgerCall::Read(read) => Some(read.account),
            LedgerCall::Holds(holds) => Some(holds.account),
        }
    }
}

/// Takes the first tier whose entries all fit, whole, under a grant; else nothing.
///
/// Repeated under one grant it answers what was taken, whatever it asks for now, before anything else is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Take {
    /// The accounts, each with the revision it was computed from; the first keeps what the grant has taken. 1 to 4.
    pub path: Vec<(AccountKey, u64)>,
    /// Under which grant.
    pub grant: GrantId,
    /// For which execution.
    pub holder: ExecutionId,
    /// A grant whose hold was kept for this one, and is used up by it; one that is gone counts for nothing.
    pub instead_of: Option<GrantId>,
    /// What is asked for, best first.
    pub tiers: Vec<Vec<Entry>>,
    /// Where the work waits if nothing fits; marked on the account that refused.
    pub mark: Option<Mark>,
}

/// One thing that is taken of one account.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// Of a number.
    Number(Number),
    /// A place in its log.
    Place(PlaceEntry),
}

impl Entry {
    /// Of which account of the path.
    pub const fn at(&self) -> usize {
        match self {
            Entry::Number(number) => number.at,
            Entry::Place(place) => place.at,
        }
    }
}

/// Fits when `max(used + held, floor) + delta` is not above the bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// Which account of the path.
    pub at: usize,
    /// Which number.
    pub meter: Meter,
    /// Whether the grant holds it or it is used.
    pub kind: TakeKind,
    /// What the number counts as at least.
    pub floor: Floor,
    /// How much.
    pub delta: i64,
    /// What it may come to.
    pub bound: Bound,
}

/// What becomes of what is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeKind {
    /// It goes with the grant.
    Held,
    /// It stays.
    Used,
}

/// What a number counts as at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floor {
    /// What it is.
    None,
    /// So much.
    At(i64),
    /// The time, in microseconds.
    Now,
}

/// What a number may come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// So much.
    At(i64),
    /// So many microseconds after now.
    AfterNow(i64),
    /// Anything.
    Free,
}

/// Fits when the name stands in the log already, or fewer than `at_most` do. A name stands for `window`, its end excluded.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceEntry {
    /// Which account of the path.
    pub at: usize,
    /// Whose place.
    pub name: String,
    /// How long a place counts.
    pub window: Duration,
    /// How many may.
    pub at_most: u64,
}

/// Where work waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// In which partition.
    pub partition: Partition,
    /// It needs no place.
    pub placeless: bool,
}

/// Uses something, whatever bounds there are: it is spent.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// The accounts, each with the revision it was computed from; the first remembers the identities. 1 to 4.
    pub path: Vec<(AccountKey, u64)>,
    /// What it holds of a number is drawn down first.
    pub grant: Option<GrantId>,
    /// What it is recognised by: drawn once under any of these.
    pub identities: Vec<Identity>,
    /// What brings it: brought again by the same, it is no repetition of somebody else's.
    pub bearer: Option<EffectId>,
    /// What is used.
    pub uses: Vec<Use>,
    /// Of the first of each account that has a number above its limit, that is counted and noted.
    pub watches: Vec<Watch>,
}

/// What a draw is recognised by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The name.
    pub identity: UsageIdentity,
    /// For how long, from the first use.
    pub remembered: Duration,
}

/// Something that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// Which account of the path.
    pub at: usize,
    /// Which number.
    pub meter: Meter,
    /// How much, at least 0.
    pub amount: i64,
    /// The definition names it: it counts however many others there are.
    pub always: bool,
}

/// Limits whose passing is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Which account of the path.
    pub at: usize,
    /// The number that counts.
    pub count: Meter,
    /// Limits, in the order in which they are looked at.
    pub over: Vec<(Meter, i64)>,
}

/// A grant ends. Repeated it does nothing; one that has taken nothing is refused from now on for as long as a grant can live.
#[derive(Clone, Debug, PartialEq)]
pub struct Give {
    /// The accounts of its `Take`.
    pub path: Vec<AccountKey>,
    /// Which grant.
    pub grant: GrantId,
    /// What it used and its places are given back as well: it was never used.
    pub undo: bool,
    /// Corrections of what is used, by account of the path.
    pub back: Vec<(usize, Meter, i64)>,
}

/// Changes an account if it is what the caller expects.
#[derive(Clone, Debug, PartialEq)]
pub struct Amend {
    /// Which one.
    pub account: AccountKey,
    /// What it must be.
    pub expected: Expected,
    /// What it says from now on; absent: what it said.
    pub body: Option<String>,
    /// What it says means something else for who takes and draws.
    pub redefines: bool,
    /// Single numbers, in order.
    pub moves: Vec<Moved>,
    /// Nothing is spent any more; what is held stays.
    pub restart: bool,
    /// Places older than this never count again.
    pub forget_places: Option<Duration>,
    /// From when on its numbers mean something else; absent: as before.
    pub stale_at: Option<Option<Timestamp>>,
    /// When the pump looks at it, if nobody has brought that forward since this stamp; absent: as before.
    pub due: Option<(u64, Option<Timestamp>)>,
}

impl Amend {
    /// Changes nothing yet.
    pub const fn new(account: AccountKey, expected: Expected) -> Self {
        Self {
            account,
            expected,
            body: None,
            redefines: false,
            moves: Vec::new(),
            restart: false,
            forget_places: None,
            stale_at: None,
            due: None,
        }
    }
}

/// What an account must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It must not be there.
    Absent,
    /// It has this version.
    Version(u64),
    /// It is there.
    Any,
}

/// A number that is moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Which one.
    pub meter: Meter,
    /// How.
    pub by: Move,
}

/// How a number is moved. Only what is used moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// By so much.
    Add(i64),
    /// Up to at least so much.
    AtLeast(i64),
    /// It is gone if it is below this.
    ClearBelow(i64),
}

/// Looks at an account.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// Which one.
    pub account: AccountKey,
    /// Which numbers.
    pub meters: ReadMeters,
    /// For windows: how many places count, and from when on at most so many do.
    pub places: Vec<(Duration, u64)>,
}

/// Which numbers are read.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadMeters {
    /// Every one.
    All,
    /// These.
    Only(Vec<Meter>),
}

/// What grants hold of an account, by grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadHolds {
    /// Which account.
    pub account: AccountKey,
    /// Only those that are so old.
    pub older_than: Duration,
    /// Only grants after this one.
    pub after: Option<GrantId>,
    /// At most so many, at least 1.
    pub limit: usize,
}
