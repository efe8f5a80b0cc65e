//! Asking again where no answer came.

use std::time::Duration;

use backon::BackoffBuilder;
use ff_core::error::Rejection;
use tokio::time::Instant;

/// How long nobody may answer before whoever waits is told.
const PATIENCE: Duration = Duration::from_secs(300);
/// The first pause; each is twice as long as the one before, and a random part longer.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// What is left of the patience with a server that does not answer.
#[derive(Default)]
pub(crate) struct Patience {
    trouble: Option<Trouble>,
}

struct Trouble {
    since: Instant,
    pauses: backon::ExponentialBackoff,
}

impl Patience {
    /// There was an answer.
    pub(crate) fn restore(&mut self) {
        self.trouble = None;
    }

    /// Pauses before the next try, or gives the refusal back where another try would not help.
    pub(crate) async fn after(&mut self, refusal: Rejection) -> Result<(), Rejection> {
        let trouble = self.trouble.get_or_insert_with(|| Trouble {
            since: Instant::now(),
            pauses: pauses(),
        });
        if !refusal.code.retryable() || trouble.since.elapsed() > PATIENCE {
            return Err(refusal);
        }
        tokio::time::sleep(trouble.pauses.next().unwrap_or(PAUSE_MAX)).await;
        Ok(())
    }
}

fn pauses() -> backon::ExponentialBackoff {
    let backoff = backon::ExponentialBuilder::new()
        .with_min_delay(PAUSE_MIN)
        .with_max_delay(PAUSE_MAX)
        .without_max_times()
        .with_jitter();
    backoff.build()
}

#[cfg(test)]
mod tests {
    use ff_core::error::Code;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_away_is_asked_for_five_minutes() {
        let (mut patience, start) = (Patience::default(), Instant::now());
        while patience.after(Code::Unavailable.because("away")).await.is_ok() {}
        assert!(
            (PATIENCE..PATIENCE + 3 * PAUSE_MAX).contains(&start.elapsed()),
            "{:?}",
            start.elapsed()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_that_stays_one_is_told_at_once() {
        let start = Instant::now();
        let refused = Patience::default()
            .after(Code::Forbidden.because("no"))
            .await
            .unwrap_err();
        assert_eq!((refused.code, start.elapsed()), (Code::Forbidden, Duration::ZERO));
    }
}
