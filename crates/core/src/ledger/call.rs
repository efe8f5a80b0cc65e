//! What is asked of accounts. Every call is one atomic step over a path of accounts of one partition.

use super::account::{AccountKey, Head};
use super::meter::{Meter, NUMBER_MAX};
use crate::id::{EffectId, ExecutionId, GrantId};
use crate::name::Namespace;
use crate::partition::{Partition, PartitionCounts};
use crate::record::UsageIdentity;
use crate::time::{Duration, Timestamp};

/// Accounts that one call changes together at most.
pub const PATH_MAX: usize = 4;

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
    /// The accounts that the call is about, the first one leading.
    pub fn accounts(&self) -> Vec<AccountKey> {
        let of = |path: &[(AccountKey, u64)]| path.iter().map(|(account, _)| *account).collect();
        match self {
            LedgerCall::Take(take) => of(&take.path),
            LedgerCall::Draw(draw) => of(&draw.path),
            LedgerCall::Give(give) => give.path.clone(),
            LedgerCall::Amend(amend) => vec![amend.account],
            LedgerCall::Read(read) => vec![read.account],
            LedgerCall::Holds(holds) => vec![holds.account],
        }
    }

    /// Where its accounts live. `None`: it contradicts itself, and no store does any of it.
    pub fn partition(&self, counts: &PartitionCounts) -> Option<Partition> {
        let accounts = self.accounts();
        let partition = accounts.first()?.partition(counts);
        let is_apart = |(at, account): (usize, &AccountKey)| {
            account.partition(counts) != partition || accounts[..at].contains(account)
        };
        let is_whole = accounts.len() <= PATH_MAX && !accounts.iter().enumerate().any(is_apart);
        (is_whole && self.names_only(accounts.len())).then_some(partition)
    }

    /// Whether everything in it is about one of its accounts, and within the scale.
    fn names_only(&self, accounts: usize) -> bool {
        let scale = -NUMBER_MAX..=NUMBER_MAX;
        match self {
            LedgerCall::Take(take) => {
                let is_sound = |entry: &Entry| {
                    let in_scale = match entry {
                        Entry::Number(number) => scale.contains(&number.delta),
                        Entry::Place(_) => true,
                    };
                    entry.at() < accounts && in_scale
                };
                !take.tiers.is_empty() && take.tiers.iter().flatten().all(is_sound)
            }
            LedgerCall::Draw(draw) => {
                let is_sound = |spent: &Use| spent.at < accounts && (0..=NUMBER_MAX).contains(&spent.amount);
                draw.uses.iter().all(is_sound) && draw.watches.iter().all(|watch| watch.at < accounts)
            }
            LedgerCall::Give(give) => {
                let is_sound = |(at, _, back): &(usize, Meter, i64)| *at < accounts && scale.contains(back);
                give.back.iter().all(is_sound)
            }
            LedgerCall::Amend(amend) => (1..=NUMBER_MAX.cast_unsigned()).contains(&amend.tag),
            LedgerCall::Read(_) | LedgerCall::Holds(_) => true,
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
    /// A number that nobody else gives: its version from now on, and its revision if it is redefined. A counter would come
    /// twice where a store has lost its last writes.
    pub tag: u64,
    /// What it says from now on; absent: what it said.
    pub body: Option<String>,
    /// Whose lists show it from now on; absent: as before.
    pub listed: Option<Option<Namespace>>,
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
    /// Changes nothing yet, and needs a tag.
    pub const fn new(account: AccountKey, expected: Expected) -> Self {
        Self {
            account,
            expected,
            tag: 0,
            body: None,
            listed: None,
            redefines: false,
            moves: Vec::new(),
            restart: false,
            forget_places: None,
            stale_at: None,
            due: None,
        }
    }

    /// Whether an account with this head stays as it is.
    pub fn leaves(&self, head: &Head) -> bool {
        let keeps_body = self.body.as_ref().is_none_or(|body| *body == head.body);
        let keeps_list = self.listed.as_ref().is_none_or(|listed| *listed == head.listed_in);
        let keeps_moments = self.stale_at.is_none_or(|at| at == head.stale_at)
            && self
                .due
                .is_none_or(|(stamp, at)| stamp != head.due.stamp || at == head.due.at);
        let counts = self.redefines || self.restart || self.forget_places.is_some() || !self.moves.is_empty();
        !counts && keeps_body && keeps_list && keeps_moments
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// By so much.
    Add(i64),
    /// Up to at least so much.
    AtLeast(i64),
    /// Up to at least what is used of that number now.
    Reach(Meter),
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
    /// Which places.
    pub places: Vec<ReadPlaces>,
}

/// How many places count, and from when on no more than so many do.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadPlaces {
    /// How long a place counts.
    pub window: Duration,
    /// How many.
    pub at_most: u64,
    /// So many fewer as this number shows.
    pub beside: Option<Meter>,
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
