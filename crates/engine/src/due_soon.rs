//! What this process knows to be due without asking the store: what its own commits left to do.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_backend::due::DueKey;
use ff_core::partition::Partition;
use tokio::sync::Notify;

/// Entries kept at most; beyond that the store's own index is as good.
const DUE_SOON_MAX: usize = 65_536;

/// Records to look at soon. Losing all of them costs time, never correctness: the store knows them too.
#[derive(Default)]
pub(crate) struct DueSoon {
    keys: Mutex<BTreeSet<(Partition, DueKey)>>,
    added: Notify,
}

impl DueSoon {
    /// Asks for a look at `key`.
    pub(crate) fn add(&self, partition: Partition, key: DueKey) {
        {
            let mut keys = self.keys();
            if keys.len() < DUE_SOON_MAX {
                keys.insert((partition, key));
            }
        }
        self.added.notify_one();
    }

    /// Takes up to `limit` of what was asked for.
    pub(crate) fn take(&self, limit: usize) -> Vec<(Partition, DueKey)> {
        let mut keys = self.keys();
        let mut taken = Vec::new();
        while taken.len() < limit
            && let Some(key) = keys.pop_first()
        {
            taken.push(key);
        }
        taken
    }

    /// Completes when somebody asked since the last time.
    pub(crate) async fn added(&self) {
        self.added.notified().await;
    }

    fn keys(&self) -> MutexGuard<'_, BTreeSet<(Partition, DueKey)>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
