//! What calls come to.

use super::account::{AccountKey, AccountView, Hold};
use crate::time::Timestamp;

/// What a call came to; which kinds follow from the call.
#[derive(Clone, Debug, PartialEq)]
pub enum LedgerAnswer {
    /// A tier was taken.
    Taken {
        /// Which one.
        tier: usize,
        /// By an earlier call.
        again: bool,
    },
    /// No tier fits.
    Full {
        /// The account that refused the last one.
        account: AccountKey,
        /// What the entries of the last tier showed.
        seen: Vec<Seen>,
        /// The generation of that account.
        generation: i64,
    },
    /// The grant was given back before it asked.
    Late,
    /// It was used, and this is what the numbers show now, in the order of the uses.
    Drawn(Vec<i64>),
    /// It was used before.
    Repeated {
        /// By the same bearer.
        same: bool,
        /// What the numbers show now.
        values: Vec<i64>,
    },
    /// What the grant held is free.
    Given,
    /// The grant held nothing.
    Unknown,
    /// It is changed.
    Amended {
        /// Its version now.
        version: u64,
        /// Its revision now.
        revision: u64,
    },
    /// It is not what was expected; this is what it is, without its numbers. Absent: it is not there.
    Differs(Option<Box<AccountView>>),
    /// As it stands.
    Account(Box<AccountView>),
    /// What grants hold.
    Holds(Vec<Hold>),
    /// There is no such account.
    Absent(AccountKey),
    /// An account of the path was redefined: this is what it says now, without its numbers.
    OtherRevision(Box<AccountView>),
    /// The numbers of an account mean something else from now on.
    Stale(AccountKey),
    /// The call contradicts itself; nothing was done.
    Malformed,
}

/// What an entry showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The number, or how many places count.
    pub value: i64,
    /// It fits.
    pub fits: bool,
    /// From when on it would, as far as time alone can say.
    pub fits_at: Option<Timestamp>,
}
