//! Quota policies. Every function is one atomic step of a store: it changes the quota it is given, or refuses and changes
//! nothing. Stores that count in a language of their own are compared with it.

pub mod account;
mod admit;
mod define;
mod due;
mod slot;

pub use admit::{CAP_RETRY_AFTER, Decision, Standing, admit, decide, holds_slot, judge, release, slots_to_check};
pub use define::{WINDOW_DEFAULT, WINDOW_MAX, WINDOW_MIN, create, delete, get, not_found, update, view};
pub use due::{
    Outlook, PROMISE_TTL, advance, due_at, due_when, forget_blocked, forget_continuing, headroom, headroom_beside,
    mark_blocked, places_beside, release_when_due,
};
pub use slot::{Admit, QuotaAdmission, SlotReleased};

use crate::record::{QuotaPolicy, QuotaUsage};

/// A quota policy with what is taken of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// The policy.
    pub policy: QuotaPolicy,
    /// What is taken.
    pub usage: QuotaUsage,
}
