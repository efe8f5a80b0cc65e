//! What keeps a store from being opened, and waiting for it to go away.

use std::future::Future;
use std::time::Duration;

use ff_backend::Error;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::error::SqlState;

use crate::error::{OpenError, describe};

/// The first pause between two tries; each one is twice as long as the one before, up to the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// What keeps a store from being opened.
#[derive(Debug)]
pub(super) enum Obstacle {
    /// It may go away by itself: a server starts, recovers or fails over.
    Passing(OpenError),
    /// Somebody must do something.
    Lasting(OpenError),
}

impl From<OpenError> for Obstacle {
    fn from(error: OpenError) -> Self {
        Obstacle::Lasting(error)
    }
}

impl From<tokio_postgres::Error> for Obstacle {
    fn from(error: tokio_postgres::Error) -> Self {
        let text = describe(&error);
        match error.code() {
            Some(state) if *state == SqlState::INSUFFICIENT_PRIVILEGE => Obstacle::Lasting(OpenError::Rights(text)),
            Some(state) => match &state.code()[..2] {
                // Who it is, and which database.
                "28" | "3D" => Obstacle::Lasting(OpenError::Refused(text)),
                // Starting, stopping, too many connections, read only for a while; another one migrates.
                "08" | "53" | "57" | "25" | "40" => Obstacle::Passing(OpenError::Unreachable(text)),
                _ => Obstacle::Lasting(OpenError::Store(Error::Corrupt(text))),
            },
            None if text.contains("invalid peer certificate") || text.contains("password") => {
                Obstacle::Lasting(OpenError::Refused(text))
            }
            None => Obstacle::Passing(OpenError::Unreachable(text)),
        }
    }
}

impl From<Error> for Obstacle {
    fn from(error: Error) -> Self {
        match error {
            Error::Unavailable(text) | Error::Unknown(text) => Obstacle::Passing(OpenError::Unreachable(text)),
            error => Obstacle::Lasting(OpenError::Store(error)),
        }
    }
}

/// Tries until it works, until something lasting is met, or until patience ends.
pub(super) async fn patiently<T, F>(patience: Duration, mut attempt: impl FnMut() -> F) -> Result<T, OpenError>
where
    F: Future<Output = Result<T, Obstacle>>,
{
    let (give_up_at, mut pause) = (Instant::now() + patience, PAUSES.0);
    let mut met = None;
    loop {
        let error = match timeout_at(give_up_at, attempt()).await {
            Ok(Ok(opened)) => return Ok(opened),
            Ok(Err(Obstacle::Lasting(error))) => return Err(error),
            Ok(Err(Obstacle::Passing(error))) => error,
            Err(_) => return Err(met.unwrap_or_else(|| OpenError::Unreachable("no answer in time".to_owned()))),
        };
        if Instant::now() + pause >= give_up_at {
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
