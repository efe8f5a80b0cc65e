//! What an account is, as it is read.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::meter::{Meter, Numbers};
use crate::error::{Code, Rejection};
use crate::id::{BudgetId, ExecutionId, GrantId, QuotaPolicyId};
use crate::name::Namespace;
use crate::partition::{Partition, PartitionCounts};
use crate::time::Timestamp;

/// What an account is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccountKind {
    /// A budget.
    Budget,
    /// A quota policy.
    Quota,
}

/// Which account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountKey {
    /// Of a budget: closed at or above a hard limit.
    Budget(BudgetId),
    /// Of a quota policy: closed without a slot or a place in its window.
    Quota(QuotaPolicyId),
}

impl AccountKey {
    /// What it is for.
    pub const fn kind(self) -> AccountKind {
        match self {
            AccountKey::Budget(_) => AccountKind::Budget,
            AccountKey::Quota(_) => AccountKind::Quota,
        }
    }

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

/// Reads what [`AccountKey`] writes.
impl FromStr for AccountKey {
    type Err = Rejection;

    fn from_str(text: &str) -> Result<Self, Rejection> {
        match text.split_once(':') {
            Some(("budget", id)) => id.parse().map(AccountKey::Budget),
            Some(("quota", id)) => id.parse().map(AccountKey::Quota),
            _ => Err(Code::InvalidId.because(format!("no account is called {text:?}"))),
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
    /// Another one after every `Amend`.
    pub version: u64,
    /// Another one after every redefinition.
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
    /// Whose lists show it.
    pub listed_in: Option<Namespace>,
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

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn an_account_is_called_as_it_is_written() {
        let uuid = Uuid::from_u128(7);
        for account in [
            AccountKey::Budget(BudgetId::from_uuid(uuid)),
            AccountKey::Quota(QuotaPolicyId::from_uuid(uuid)),
        ] {
            assert_eq!(account.to_string().parse(), Ok(account));
        }
        let others = [
            "",
            "budget",
            "budget:",
            "quota:x",
            "slot:00000000-0000-0000-0000-000000000007",
        ];
        for text in others {
            assert!(text.parse::<AccountKey>().is_err(), "{text:?}");
        }
    }
}
