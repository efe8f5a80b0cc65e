//! Quota policies: what one says of itself, what an admission asks of its account, and what the answer means.

pub mod account;
mod define;
mod due;
#[cfg(feature = "judge")]
pub mod judge;
mod slot;

pub use define::{WINDOW_DEFAULT, WINDOW_MAX, WINDOW_MIN, create, delete, not_found, update};
pub use slot::{Admit, QuotaAdmission, SlotReleased, holds_slot};
