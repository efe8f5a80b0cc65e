//! Budgets. Every function is one atomic step of a store: it changes the budget it is given, or refuses and changes
//! nothing. Stores that count in a language of their own are compared with it.
//!
//! A periodic reset that is due happens before whatever finds it.

pub mod account;
mod check;
mod define;
mod due;
mod report;
mod settle;
mod spend;
mod view;

pub use check::{RESET_INTERVAL_MIN, check_deltas};
pub use define::{create, delete, not_found, reset, update_limits};
pub use due::{BudgetWork, Stop, advance, due_at, forget_blocked, mark_blocked, stopped, withdrawn};
pub use report::{Remember, UsageReport};
pub use spend::{Report, report_usage};
pub use view::{Found, get, standing, view};
