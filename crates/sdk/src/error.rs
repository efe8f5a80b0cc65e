//! Why a call of the client did not give what it was asked for.

use std::time::Duration;

use ff_core::error::{Code, Rejection};
use ff_core::id::ExecutionId;

use crate::codec::CodecError;
use crate::json::Unreadable;
use crate::run::Ended;

/// The answer to a call of the client.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call of the client did not give what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine refused, or its server could not be reached: the code says which.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// What is to be submitted cannot be, for each of these reasons. Nothing was sent.
    #[error("{what} cannot be submitted: {}", problems.join("; "))]
    Invalid {
        /// What it is.
        what: String,
        /// Everything that is wrong with it.
        problems: Vec<String>,
    },
    /// The same idempotency key was used before, for something else.
    #[error(
        "the idempotency key {key:?} was used before for something else, which became execution {execution_id}; nothing was \
         submitted. Take another key, or say .accept_other_content() if the first submission will do"
    )]
    ContentDiffers {
        /// The key.
        key: String,
        /// What the first submission became.
        execution_id: ExecutionId,
    },
    /// The execution has ended, but without success.
    #[error(transparent)]
    Ended(#[from] Box<Ended>),
    /// The execution has not ended in the time that was given.
    #[error("execution {execution_id} has not ended within {waited:?}; it goes on, and can be asked for again")]
    NotEnded {
        /// Which one.
        execution_id: ExecutionId,
        /// The time that was given.
        waited: Duration,
    },
    /// There is something, but not of the type that was asked for.
    #[error("{what} {problem}")]
    Unreadable {
        /// What was to be read.
        what: String,
        /// Where in it, and why not.
        problem: Unreadable,
    },
    /// A value has no JSON form.
    #[error("{what} cannot be written as JSON: {reason}")]
    Unwritable {
        /// What was to be written.
        what: String,
        /// Why not.
        reason: String,
    },
    /// The codec did not do its work.
    #[error("{what}: {source}")]
    Codec {
        /// What it was to work on.
        what: String,
        /// Why not.
        source: CodecError,
    },
    /// The server is of another time than this client.
    #[error(
        "the server at {url} is of version {theirs} and speaks {api} of the interface, this client (version {own}) speaks 1: {now_what}"
    )]
    OtherServer {
        /// Where it is.
        url: String,
        /// Its version.
        theirs: String,
        /// The version of this client.
        own: &'static str,
        /// The interface it speaks.
        api: String,
        /// What can be done about it.
        now_what: &'static str,
    },
}

impl Error {
    /// The code of a refusal.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Rejected(rejection) => Some(rejection.code),
            _ => None,
        }
    }

    /// Whether the same call may succeed later without anything being changed.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Rejected(rejection) => rejection.code.retryable(),
            Self::Codec { source, .. } => source.is_transient(),
            Self::NotEnded { .. } => true,
            _ => false,
        }
    }
}
