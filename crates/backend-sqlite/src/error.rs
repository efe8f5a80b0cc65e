//! Why a store cannot be opened, and how SQLite's errors read to the engine.

use std::io;
use std::path::{Path, PathBuf};

use ff_backend::Error;
use ff_core::partition::CountsMismatch;
use rusqlite::ErrorCode;

/// A store that cannot be opened or copied.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct OpenError {
    /// The file.
    pub path: PathBuf,
    /// What is the matter with it.
    pub problem: Problem,
}

/// What is the matter with a file. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// Somebody else has it open: who, as far as is known.
    #[error("it is in use by {0}; stop that process or choose another file")]
    Locked(String),
    /// It is not one of ours.
    #[error("it is not a FlowFabric store; choose another file")]
    Foreign,
    /// A newer release wrote it.
    #[error("it was written by a newer release (schema {found}, this one knows {known}); upgrade, or restore a backup")]
    Newer {
        /// The schema it has.
        found: usize,
        /// The schema this release knows.
        known: usize,
    },
    /// A migration this release knows was applied with another text: which one.
    #[error("migration {0} was applied in another form; this file was not made by a release")]
    Diverged(usize),
    /// It is damaged: what SQLite found.
    #[error("it is damaged ({0}); restore a backup, or move the file away to start anew")]
    Damaged(String),
    /// It has other partition counts.
    #[error(transparent)]
    Counts(#[from] CountsMismatch),
    /// The SQLite library is too old to be trusted with a write-ahead log.
    #[error("SQLite {0} has a bug that can damage write-ahead logs; 3.51.3 or newer is needed")]
    TooOld(&'static str),
    /// The file system refused the file.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The file system refused the lock beside the file.
    #[error("its lock file: {0}")]
    Lock(io::Error),
    /// SQLite refused.
    #[error(transparent)]
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Problem {
    fn from(source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Problem::Damaged(source.to_string()),
            _ => Problem::Sqlite(source),
        }
    }
}

/// Says which file a problem is with.
pub(crate) fn with_file<P: Into<Problem>>(path: &Path) -> impl Fn(P) -> OpenError {
    move |problem| OpenError {
        path: path.to_owned(),
        problem: problem.into(),
    }
}

/// Whether a row is there but does not hold what it should.
pub(crate) const fn is_unreadable(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::FromSqlConversionFailure(..))
}

/// What a row holds; `None`, and a line in the log, when it cannot be read: what concerns many must not stop at one.
pub(crate) fn if_readable<T>(read: rusqlite::Result<T>) -> rusqlite::Result<Option<T>> {
    match read {
        Err(error) if is_unreadable(&error) => {
            tracing::error!(%error, "a row cannot be read; it is left out");
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// How an error of SQLite reads to the engine. Nothing was done: the writer rolls the whole batch back first.
pub(crate) fn store_error(error: &rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Corrupt(error.to_string()),
        _ if is_unreadable(error) => Error::Corrupt(error.to_string()),
        _ => Error::Unavailable(error.to_string()),
    }
}

/// A body or column that does not hold what it should.
pub(crate) fn corrupt(what: impl std::fmt::Display) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, what.to_string().into())
}
