//! Asking again, with the same identity, for as long as the answer is that it may help.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ff_core::fabric::Result;
use futures::future::BoxFuture;

use crate::ledger::Ledger;
use crate::window::Span;

/// No fault here lasts longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks until there is an answer; says when the last try began and ended.
pub(crate) async fn insist<'a, T>(ledger: &Ledger, ask: impl Fn() -> BoxFuture<'a, Result<T>>) -> (Result<T>, Span) {
    let give_up_at = Instant::now() + PATIENCE;
    let mut pause = Duration::from_millis(10);
    loop {
        let asked_at = Instant::now();
        let answer = ask().await;
        let span = Span {
            asked_at,
            answered_at: Instant::now(),
        };
        match &answer {
            Err(rejection) if rejection.code.retryable() => {
                assert!(Instant::now() < give_up_at, "for {PATIENCE:?}: {rejection}");
                ledger.retries.fetch_add(1, Ordering::Relaxed);
            }
            _ => return (answer, span),
        }
        tokio::time::sleep(pause).await;
        pause = (2 * pause).min(Duration::from_millis(200));
    }
}
