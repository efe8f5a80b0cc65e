//! What keeps a store from being opened, and waiting for it to go away.

use std::future::Future;
use std::time::Duration;

use ff_backend::Error;
use redis::{ErrorKind, RedisError};
use tokio::time::{Instant, sleep, timeout_at};

use crate::error::{Fate, OpenError, fate};

/// The first pause between two tries; each one is twice as long as the one before, up to the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// What keeps a store from being opened.
#[derive(Debug)]
pub(super) enum Obstacle {
    /// It may go away by itself: a server starts, loads its data or fails over.
    Passing(OpenError),
    /// Somebody must do something.
    Lasting(OpenError),
}

impl From<RedisError> for Obstacle {
    fn from(error: RedisError) -> Self {
        let text = error.to_string();
        if error.kind() == ErrorKind::InvalidClientConfig {
            return Obstacle::Lasting(OpenError::Address(text));
        }
        // Choosing a database is part of connecting, and the client keeps only the words of a refusal.
        let no_database = text.contains("refused to switch database");
        if fate(&error) == Fate::Refused || (no_database && text.contains("Authentication required")) {
            return Obstacle::Lasting(OpenError::Refused(text));
        }
        if no_database {
            return Obstacle::Lasting(OpenError::Address(text));
        }
        match text.contains("invalid peer certificate") {
            true => Obstacle::Lasting(OpenError::Unreachable(text)),
            false => Obstacle::Passing(OpenError::Unreachable(text)),
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
