//! What keeps a store from being opened.

use ff_backend::{Error, opening};
use redis::{ErrorKind, RedisError};

use crate::error::{Fate, OpenError, fate};

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

impl opening::Obstacle for Obstacle {
    type Error = OpenError;

    fn is_passing(&self) -> bool {
        matches!(self, Obstacle::Passing(_))
    }

    fn into_error(self) -> OpenError {
        let (Obstacle::Passing(error) | Obstacle::Lasting(error)) = self;
        error
    }

    fn silence() -> OpenError {
        OpenError::Unreachable("no answer in time".to_owned())
    }
}
