//! What an account is, as it is read.

use std::collections::BTreeMap;
use std::fmt;

use super::meter::{Meter, Numbers};
use crate::id::{BudgetId, ExecutionId, GrantId, QuotaPolicyId};
use crate::partition::{Partition, PartitionCounts};
use crate::time::Timestamp;

/// Which account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccountKey {
    /// Of a budget.
    Budget(BudgetId),
    /// Of a quota policy.
    Quota(QuotaPolicyId),
}

impl AccountKey {
    /// Where it lives.
    pub fn partition(self, counts: &PartitionCounts) -> Partition {
        match self {
            AccountKey::Budget(id) => counts.of_budget(id),
            AccountKey::Quota(id) => counts.of_quota(id),
        }
    }
}

impl fmt::Display for AccountKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccountKey::Budget(id) => write!(f, "budget:{id}"),
            AccountKey::Quota(id) => write!(f, "quota:{id}"),
        }
    }
}

/// An account as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountView {
    /// Which one.
    pub account: AccountKey,
    /// What it is.
    pub head: Head,
    /// The numbers that were asked for; one that is not there shows 0.
    pub meters: BTreeMap<Meter, Numbers>,
    /// The places that were asked about, in that order.
    pub places: Vec<PlacesSeen>,
}

/// What an account is besides its numbers, holds and places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    /// Moves with every `Amend`.
    pub version: u64,
    /// Moves with every redefinition.
    pub revision: u64,
    /// What it is, in the words of whoever made it.
    pub body: String,
    /// From then on its numbers mean something else, and nothing is taken or drawn before somebody says what.
    pub stale_at: Option<Timestamp>,
    /// When the pump looks at it.
    pub due: Due,
    /// Moves whenever something that waits may fit.
    pub generation: i64,
    /// Marks that stand.
    pub marks: u64,
    /// The last limit that was passed.
    pub last: Option<LastWatch>,
}

impl AccountView {
    /// An account without its numbers.
    pub fn bare(account: AccountKey, head: Head) -> Self {
        Self {
            account,
            head,
            meters: BTreeMap::new(),
            places: Vec::new(),
        }
    }
}

/// When the pump looks at an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// When; absent: only a call changes that.
    pub at: Option<Timestamp>,
    /// Moves whenever the moment is brought forward: who read an older one does not put it off.
    pub stamp: u64,
}

impl Due {
    /// The pump looks at it then at the latest.
    pub fn bring_forward(&mut self, to: Timestamp) {
        self.at = Some(self.at.map_or(to, |before| before.min(to)));
        self.stamp += 1;
    }
}

/// Places of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacesSeen {
    /// How many count now.
    pub count: u64,
    /// From when on at most as many count as were asked for; absent: there never were more.
    pub falls_at: Option<Timestamp>,
}

/// A limit that was passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastWatch {
    /// The number that counts it.
    pub count: Meter,
    /// Of what too much was used.
    pub meter: Meter,
    /// How much, then.
    pub value: i64,
    /// The limit, then.
    pub limit: i64,
    /// When.
    pub at: Timestamp,
}

/// What a grant has taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    /// Under which grant.
    pub grant: GrantId,
    /// For which execution.
    pub holder: ExecutionId,
    /// When.
    pub taken_at: Timestamp,
    /// Which tier.
    pub tier: usize,
    /// Of which numbers how much.
    pub took: Vec<Took>,
    /// Places that were taken for it.
    pub places: Vec<(AccountKey, String)>,
}

/// What a grant has taken of one number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Took {
    /// Of which account.
    pub account: AccountKey,
    /// Which number.
    pub meter: Meter,
    /// What it still holds.
    pub held: i64,
    /// What it used.
    pub used: i64,
}
