//! What this process knows of the definitions of accounts. Whoever still knows an older one is told by the account.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::ledger::{AccountKey, AccountView};
use ff_core::machine::{budget, quota};
use ff_core::record::{Budget, QuotaPolicy};

use super::accounts::{Accounts, Failed, bare, read};

/// Definitions that are remembered; with more of them everything is learned again.
const KNOWN_MAX: usize = 10_000;

/// Definitions by account.
#[derive(Default)]
pub struct Definitions {
    known: Mutex<HashMap<AccountKey, Known>>,
}

/// A definition, and the revision that names it.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) revision: u64,
    pub(super) definition: Definition,
}

/// What an account is, without its numbers.
#[derive(Clone)]
pub(super) enum Definition {
    Budget(Arc<Budget>),
    Quota(Arc<QuotaPolicy>),
}

impl Definition {
    fn is_deleted(&self) -> bool {
        match self {
            Definition::Budget(budget) => budget.deleted_at.is_some(),
            Definition::Quota(policy) => policy.deleted_at.is_some(),
        }
    }
}

impl Definitions {
    /// Forgets one.
    pub fn forget(&self, account: AccountKey) {
        self.known().remove(&account);
    }

    /// Remembers what an account says of itself.
    pub(super) fn learn(&self, view: &AccountView) -> Result<Known, Failed> {
        let definition = match view.account {
            AccountKey::Budget(_) => Definition::Budget(Arc::new(budget::account::budget(view)?)),
            AccountKey::Quota(_) => Definition::Quota(Arc::new(quota::account::policy(view)?)),
        };
        let known = Known {
            revision: view.head.revision,
            definition,
        };
        // One that was deleted is looked at again each time: the store may lose its last writes, and that was one of them.
        if known.definition.is_deleted() {
            self.forget(view.account);
            return Ok(known);
        }
        let mut all = self.known();
        if all.len() >= KNOWN_MAX {
            all.clear();
        }
        all.insert(view.account, known.clone());
        Ok(known)
    }

    /// What is known of an account; it is read if nothing is. `None`: it is not there.
    pub(super) async fn of(
        &self,
        accounts: &(impl Accounts + ?Sized),
        account: AccountKey,
    ) -> Result<Option<Known>, Failed> {
        if let Some(known) = self.known().get(&account).cloned() {
            return Ok(Some(known));
        }
        let found = read(accounts, bare(account)).await?.1;
        found.map(|view| self.learn(&view)).transpose()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<AccountKey, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
