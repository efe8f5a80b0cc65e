//! Budgets and quota policies over the accounts of the store under test.

pub(super) mod between;
mod budget;
pub(super) mod budget_model;
pub(super) mod budgets;
mod process;
mod quota;
pub(super) mod quota_model;
pub(super) mod quotas;

use ff_core::error::Rejection;
use ff_core::ledger::AccountKey;
use ff_core::time::{Duration, Timestamp};

use super::build::Store;
use crate::due::DueKey;
use crate::limits::Failed;

/// What the rules say; a store that does not answer fails the case.
fn ruled<T>(outcome: Result<T, Failed>) -> Result<T, Rejection> {
    match outcome {
        Ok(outcome) => Ok(outcome),
        Err(Failed::Refused(refusal)) => Err(refusal),
        Err(Failed::Store(error)) => panic!("the store answers, not {error}"),
    }
}

/// An account is looked at when the rules say so, or within a second if only they know; it may be looked at once too often.
async fn is_looked_at(store: &Store<'_>, account: AccountKey, wanted: Option<Timestamp>, looked: bool) {
    let page = store.due_in(&[account.partition(&store.counts())], 100).await;
    let is_due = page.items.iter().any(|item| item.key == DueKey::Account(account));
    match wanted {
        Some(at) => {
            let by = at.max(page.now + Duration::from_secs(1));
            let is_known = is_due || page.next.is_some_and(|next| next <= by);
            assert!(is_known, "{account} should be due at {at}: {page:?}");
            assert!(!looked || is_due == at.has_come(page.now), "{account} is due at {at}");
        }
        None => assert!(!looked || !is_due, "{account} is not due after a look"),
    }
}
