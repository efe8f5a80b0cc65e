//! What went wrong, and what that means for the call.

use ff_backend::Error;
use ff_core::partition::CountsMismatch;
use redis::{ErrorKind, RedisError, ServerErrorKind};

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// An address cannot be used.
    #[error("this is no Valkey address: {0}")]
    Address(String),
    /// Nothing answered in time.
    #[error("Valkey does not answer: {0}")]
    Unreachable(String),
    /// The server does not accept the user or the password.
    #[error("Valkey refuses the user or the password: {0}")]
    Refused(String),
    /// The server is too old.
    #[error("Valkey {found} is too old: {needed} or newer is needed")]
    Version {
        /// What was found.
        found: String,
        /// The oldest that works.
        needed: &'static str,
    },
    /// The server may throw records away.
    #[error("maxmemory-policy is {found}: set it to noeviction, or the server may throw executions away")]
    Evicts {
        /// The policy it has.
        found: String,
    },
    /// The store was created with other partition counts.
    #[error(transparent)]
    Counts(#[from] CountsMismatch),
    /// The store answered something it should not.
    #[error(transparent)]
    Store(#[from] Error),
}

/// What an error says about the command that met it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It was not run; trying again soon may help.
    NotRun,
    /// It was not run, because the library is not loaded.
    NoLibrary,
    /// It was not run, and trying again will not help.
    Refused,
    /// It may have been run.
    Unknown,
    /// It failed while it ran: a mistake of ours.
    Broken,
}

/// What became of a call that ended with `error`.
pub(crate) fn fate(error: &RedisError) -> Fate {
    match error.kind() {
        ErrorKind::Server(kind) => match kind {
            ServerErrorKind::BusyLoading
            | ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ReadOnly
            | ServerErrorKind::Moved
            | ServerErrorKind::Ask => Fate::NotRun,
            ServerErrorKind::NoPerm => Fate::Refused,
            _ if error.to_string().contains("Function not found") => Fate::NoLibrary,
            _ => Fate::Broken,
        },
        ErrorKind::Extension => match error.code() {
            Some("BUSY" | "OOM" | "MISCONF" | "NOREPLICAS" | "UNBLOCKED") => Fate::NotRun,
            Some("NOAUTH" | "WRONGPASS") => Fate::Refused,
            _ => Fate::Broken,
        },
        ErrorKind::AuthenticationFailed | ErrorKind::InvalidClientConfig => Fate::Refused,
        ErrorKind::ClusterConnectionNotFound => Fate::NotRun,
        _ => Fate::Unknown,
    }
}

/// The store holds, or answered, something it should not.
pub(crate) fn corrupt(what: impl std::fmt::Display) -> Error {
    Error::Corrupt(what.to_string())
}
