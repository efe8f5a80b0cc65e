//! Accounts as the engine asks them: callers that come together share calls.

use std::time::Duration;

use async_trait::async_trait;
use ff_backend::Backend;
use ff_backend::ledger::LedgerReply;
use ff_backend::limits::{Accounts, Definitions};
use ff_backend::query::{Page, Query};
use ff_backend::tries::Patience;
use ff_core::ledger::LedgerCall;

use super::{Store, lost};
use crate::mint;

type Replies = Vec<ff_backend::Result<LedgerReply>>;

#[async_trait]
impl Accounts for Store {
    async fn ask(&self, calls: Vec<LedgerCall>) -> Replies {
        let count = calls.len();
        let answers = self.ledger.call(&*self.host, calls).await;
        answers.unwrap_or_else(|| (0..count).map(|_| lost()).collect())
    }

    async fn page(&self, query: Query) -> ff_backend::Result<Page> {
        self.backend.list(query).await
    }

    fn tag(&self) -> u64 {
        (mint::dice(&*self.host) >> 11).max(1)
    }

    fn definitions(&self) -> &Definitions {
        &self.definitions
    }
}

#[async_trait]
impl Patience for Store {
    async fn pause(&self, at_most: Duration) {
        let micros = u64::try_from(at_most.as_micros()).unwrap_or(u64::MAX);
        let part = mint::dice(&*self.host) % micros.saturating_add(1).max(1);
        self.host.sleep(Duration::from_micros(part)).await;
    }
}

/// The calls of all callers, whose replies go back to each.
pub(super) async fn ask_all(backend: &dyn Backend, batch: Vec<Vec<LedgerCall>>) -> Vec<Replies> {
    let counts: Vec<usize> = batch.iter().map(Vec::len).collect();
    let mut replies = backend.ledger(batch.into_iter().flatten().collect()).await.into_iter();
    let own = |count| replies.by_ref().take(count).collect();
    counts.into_iter().map(own).collect()
}
