//! What went wrong, and what that means for the call.

use ff_backend::Error;
use ff_backend::opening::Obstacle;
use ff_core::partition::CountsMismatch;
use tokio_postgres::error::SqlState;

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address cannot be used.
    #[error("this is no PostgreSQL address: {0}")]
    Address(String),
    /// Nothing answered in time.
    #[error("PostgreSQL does not answer: {0}")]
    Unreachable(String),
    /// The server does not accept the user, or there is no such database.
    #[error("PostgreSQL refuses the connection: {0}")]
    Refused(String),
    /// The server is too old.
    #[error("PostgreSQL {found} is too old: {needed} or newer is needed")]
    Version {
        /// What was found.
        found: String,
        /// The oldest that works.
        needed: u32,
    },
    /// The server only follows another one.
    #[error("the server takes no writes, as a standby does: name the primary, or all servers of the group")]
    Standby,
    /// What was acknowledged may be lost when the machine fails.
    #[error(
        "{0}: acknowledged work would be lost when the server's machine fails; turn it on (a program that embeds this store may allow it)"
    )]
    LosesWrites(String),
    /// The user may not do what is needed.
    #[error(
        "the database user lacks rights: {0}; grant CREATE on the database and on its schema, or run `ff migrate` as its owner"
    )]
    Rights(String),
    /// The schema was made by a newer release.
    #[error("the schema has version {found}, this program knows {known}: upgrade it, or use another database")]
    Newer {
        /// What was found.
        found: usize,
        /// What this program knows.
        known: usize,
    },
    /// The schema is not the one that was made.
    #[error(
        "migration {0} in the database is not the one of this program: it is another product's, or was changed by hand"
    )]
    Diverged(usize),
    /// Another store of the same database has the functions.
    #[error("another schema of this database holds a store already: give this one a database of its own")]
    Shared,
    /// The store was created with other partition counts.
    #[error(transparent)]
    Counts(#[from] CountsMismatch),
    /// The store answered something it should not.
    #[error(transparent)]
    Store(Error),
}

impl Obstacle for OpenError {
    type Error = Self;

    /// A server starts, recovers or fails over; a standby may be promoted in a moment.
    fn is_passing(&self) -> bool {
        matches!(self, OpenError::Unreachable(_) | OpenError::Standby)
    }

    fn into_error(self) -> Self {
        self
    }

    fn silence() -> Self {
        OpenError::Unreachable("no answer in time".to_owned())
    }
}

impl From<tokio_postgres::Error> for OpenError {
    fn from(error: tokio_postgres::Error) -> Self {
        let text = describe(&error);
        match error.code() {
            Some(state) if *state == SqlState::INSUFFICIENT_PRIVILEGE => OpenError::Rights(text),
            Some(state) => match &state.code()[..2] {
                // Who it is, and which database.
                "28" | "3D" => OpenError::Refused(text),
                // Starting, stopping, too many connections, read only for a while; another one migrates.
                "08" | "53" | "57" | "25" | "40" => OpenError::Unreachable(text),
                _ => OpenError::Store(Error::Corrupt(text)),
            },
            None if text.contains("invalid peer certificate") || text.contains("password") => OpenError::Refused(text),
            // The client asks every server that it connects to, and has no other name for this answer.
            None if text.contains("does not allow writes") => OpenError::Standby,
            None => OpenError::Unreachable(text),
        }
    }
}

impl From<Error> for OpenError {
    fn from(error: Error) -> Self {
        match error {
            Error::Unavailable(text) | Error::Unknown(text) => OpenError::Unreachable(text),
            error => OpenError::Store(error),
        }
    }
}

/// What an error says about the statement that met it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Others were in its way and nothing was done: trying again at once will do.
    Again,
    /// It was not run, or came to nothing; trying again soon may help.
    NotRun,
    /// It may have been run.
    Unknown,
    /// It was refused, and will be: a right or a mistake.
    Broken,
}

/// What became of a statement that ended with `error`.
pub(crate) fn fate(error: &tokio_postgres::Error) -> Fate {
    let Some(state) = error.code() else {
        return if error.is_closed() || error.to_string().contains("error communicating") {
            Fate::Unknown
        } else {
            Fate::Broken
        };
    };
    if [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::UNIQUE_VIOLATION,
    ]
    .contains(state)
    {
        return Fate::Again;
    }
    match &state.code()[..2] {
        // Whatever ends a connection may have come after the commit.
        "08" | "57" => Fate::Unknown,
        // Not enough of something; read only, as a standby is; in a transaction that was given up.
        "53" | "55" | "25" => Fate::NotRun,
        _ => Fate::Broken,
    }
}

/// A statement that reads did nothing, whatever happened.
pub(crate) fn as_error(error: &tokio_postgres::Error, writes: bool) -> Error {
    let why = describe(error);
    match fate(error) {
        Fate::Unknown if writes => Error::Unknown(why),
        Fate::Unknown | Fate::Again | Fate::NotRun => Error::Unavailable(why),
        Fate::Broken => Error::Corrupt(why),
    }
}

/// The message of the server, which the client's own words leave out.
pub(crate) fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) if *error.code() == SqlState::TOO_MANY_CONNECTIONS => format!(
            "{} ({}); allow more of them (`max_connections` of the server, CONNECTION LIMIT of the role and of the database), or use \
             fewer (`postgres_connections_max`)",
            error.message(),
            error.code().code()
        ),
        Some(error) => match error.where_() {
            Some(place) => format!("{} ({}) in {place}", error.message(), error.code().code()),
            None => format!("{} ({})", error.message(), error.code().code()),
        },
        None => {
            let source = std::error::Error::source(error).map(|source| format!(": {source}"));
            format!("{error}{}", source.unwrap_or_default())
        }
    }
}

/// The store holds, or answered, something it should not.
pub(crate) fn corrupt(what: impl std::fmt::Display) -> Error {
    Error::Corrupt(what.to_string())
}
