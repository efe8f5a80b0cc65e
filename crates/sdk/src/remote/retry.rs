//! When a call is sent again.

use std::time::Duration;

use backon::BackoffBuilder;
use ff_core::error::{Code, Rejection};

use super::request::Request;

/// The first pause; each is twice as long as the one before, and a random part longer.
const PAUSE_MIN: Duration = Duration::from_millis(50);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Why there is no answer.
pub(super) enum Failure {
    /// The server refused.
    Refused(Rejection),
    /// Nobody knows what became of it.
    Unanswered(reqwest::Error),
}

/// The pauses between this many tries.
pub(super) fn pauses(tries: usize) -> impl Iterator<Item = Duration> {
    let backoff = backon::ExponentialBuilder::new()
        .with_min_delay(PAUSE_MIN)
        .with_max_delay(PAUSE_MAX)
        .with_max_times(tries.saturating_sub(1))
        .with_jitter();
    backoff.build()
}

impl Failure {
    pub(super) fn is_worth_another_try(&self, request: &Request) -> bool {
        match self {
            Self::Refused(refusal) => matches!(
                refusal.code,
                Code::Contention | Code::Unavailable | Code::ShuttingDown | Code::Timeout
            ),
            Self::Unanswered(error) => request.is_repeatable || error.is_connect(),
        }
    }

    /// What the caller is told. The cause names addresses, never what was sent.
    pub(super) fn into_rejection(self, server: &str) -> Rejection {
        match self {
            Self::Refused(refusal) => refusal,
            Self::Unanswered(error) if error.is_connect() => {
                let cause = cause(&error);
                Code::Unavailable.because(format!("cannot reach {server} ({cause}); is the server running there?"))
            }
            Self::Unanswered(error) => {
                let cause = cause(&error);
                Code::Unavailable.because(format!("no answer from {server} ({cause}); it may have been done"))
            }
        }
    }
}

/// The innermost cause: what is around it repeats the address.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if error.is_timeout() {
        return "timed out".to_owned();
    }
    cause.to_string()
}
