//! Opening a store that another process serves: it may only start, recover or fail over just now.

use std::fmt::Display;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

/// The first pause between two tries; each one is twice as long as the one before, up to the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// What keeps a store from being opened.
pub trait Obstacle: Sized {
    /// What whoever opens the store is told.
    type Error: Display;

    /// Whether it may go away by itself; otherwise somebody must do something.
    fn is_passing(&self) -> bool;

    /// What it is called.
    fn into_error(self) -> Self::Error;

    /// Nothing was answered.
    fn silence() -> Self::Error;
}

/// Tries until it works, until something lasting is met, or until patience ends.
pub async fn patiently<T, O, F>(patience: Duration, mut attempt: impl FnMut() -> F) -> Result<T, O::Error>
where
    O: Obstacle,
    F: Future<Output = Result<T, O>>,
{
    let (give_up_at, mut pause) = (Instant::now() + patience, PAUSES.0);
    let mut met = None;
    loop {
        let obstacle = match timeout_at(give_up_at, attempt()).await {
            Ok(Ok(opened)) => return Ok(opened),
            Ok(Err(obstacle)) => obstacle,
            Err(_) => return Err(met.unwrap_or_else(O::silence)),
        };
        let is_over = !obstacle.is_passing() || Instant::now() + pause >= give_up_at;
        let error = obstacle.into_error();
        if is_over {
            return Err(error);
        }
        if met.is_none() {
            tracing::warn!(%error, patience_s = patience.as_secs(), "the store is not ready yet; trying again");
        }
        met = Some(error);
        sleep(pause).await;
        pause = (2 * pause).min(PAUSES.1);
    }
}
