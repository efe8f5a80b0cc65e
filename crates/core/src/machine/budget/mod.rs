//! Budgets. Every function changes the budget it is given, or refuses and changes nothing; what that means for its account
//! is said by [`account`].
//!
//! A periodic reset that is due happens before whatever finds it.

pub mod account;
mod check;
mod define;
mod due;
#[cfg(feature = "judge")]
pub mod judge;
mod report;
mod settle;
mod spend;
mod view;

pub use check::{RESET_INTERVAL_MIN, check_deltas};
pub use define::{create, delete, not_found, reset, update_limits};
pub use due::{BudgetWork, Stop, advance, due_at, stopped, withdrawn};
pub use report::UsageReport;
pub use view::{Found, get, standing, view};
