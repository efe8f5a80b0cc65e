//! Waiting for something that takes longer than one call, with a server that may be away in between.

use std::time::Duration;

use ff_core::fabric::Result;
use tokio::time::Instant;

/// How long nobody may answer before whoever waits is told.
const PATIENCE: Duration = Duration::from_secs(300);
/// Between two tries.
const PAUSE: Duration = Duration::from_secs(1);
/// How long one call waits for what it asks for: less than what a server allows.
pub(crate) const WAIT: ff_core::time::Duration = ff_core::time::Duration::from_secs(25);

/// Asks until there is an answer, or a refusal that stays one.
pub(crate) async fn patiently<T>(mut ask: impl AsyncFnMut() -> Result<T>) -> Result<T> {
    let begun = Instant::now();
    loop {
        match ask().await {
            Err(refusal) if refusal.code.retryable() && begun.elapsed() < PATIENCE => tokio::time::sleep(PAUSE).await,
            answer => return answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use ff_core::error::Code;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_away_is_asked_again_until_it_is_there() {
        let mut tries = 0;
        let answer = patiently(async || {
            tries += 1;
            if tries < 4 {
                Err(Code::Unavailable.because("away"))
            } else {
                Ok(tries)
            }
        });
        assert_eq!(answer.await, Ok(4));
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends() {
        let begun = Instant::now();
        let refused = patiently(async || Err::<(), _>(Code::Unavailable.because("away"))).await;
        assert!(refused.is_err() && begun.elapsed() >= PATIENCE);
        let refused = patiently(async || Err::<(), _>(Code::Forbidden.because("no"))).await;
        assert!(refused.is_err() && begun.elapsed() < PATIENCE * 2);
    }
}
