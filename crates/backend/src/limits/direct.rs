//! Accounts asked without anything in between, for tests and checks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use async_trait::async_trait;
use ff_core::ledger::LedgerCall;

use super::{Accounts, Definitions};
use crate::ledger::LedgerReply;
use crate::query::{Page, Query};
use crate::tries::Patience;
use crate::{Backend, Result};

/// Nobody else counts them in this process; who shares a store with another one draws tags at random.
static TAGS: AtomicU64 = AtomicU64::new(1);

/// A store asked directly, by somebody who has never asked before.
pub struct Direct {
    backend: Arc<dyn Backend>,
    definitions: Definitions,
}

impl Direct {
    /// Asks this store.
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        Self {
            backend,
            definitions: Definitions::default(),
        }
    }
}

#[async_trait]
impl Accounts for Direct {
    async fn ask(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        self.backend.ledger(calls).await
    }

    async fn page(&self, query: Query) -> Result<Page> {
        self.backend.list(query).await
    }

    fn tag(&self) -> u64 {
        TAGS.fetch_add(1, Ordering::Relaxed)
    }

    fn definitions(&self) -> &Definitions {
        &self.definitions
    }
}

#[async_trait]
impl Patience for Direct {
    /// Others are let ahead, once.
    async fn pause(&self, _at_most: std::time::Duration) {
        let mut waited = false;
        std::future::poll_fn(|context| {
            if std::mem::replace(&mut waited, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}
