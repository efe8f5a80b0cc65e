//! Why a store cannot be opened, and how SQLite's errors read to the engine.

use std::path::PathBuf;

use ff_backend::Error;
use ff_core::partition::CountsMismatch;
use rusqlite::ErrorCode;

/// A store that cannot be opened. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Somebody else has it open.
    #[error("{path} is in use by {holder}; stop that process or choose another file")]
    Locked {
        /// The database file.
        path: PathBuf,
        /// Who holds it, as far as is known.
        holder: String,
    },
    /// It is not one of ours.
    #[error("{path} is not a FlowFabric store; choose another file")]
    Foreign {
        /// The database file.
        path: PathBuf,
    },
    /// A newer release wrote it.
    #[error(
        "{path} was written by a newer release (schema {found}, this one knows {known}); upgrade, or restore a backup"
    )]
    Newer {
        /// The database file.
        path: PathBuf,
        /// The schema it has.
        found: u32,
        /// The schema this release knows.
        known: u32,
    },
    /// A migration this release knows was applied with another text.
    #[error("{path}: migration {version} was applied in another form; this file was not made by a release")]
    Diverged {
        /// The database file.
        path: PathBuf,
        /// Which migration.
        version: u32,
    },
    /// It is damaged.
    #[error("{path} is damaged ({detail}); restore a backup, or move the file away to start anew")]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// What SQLite found.
        detail: String,
    },
    /// It has other partition counts.
    #[error("{path}: {mismatch}")]
    Counts {
        /// The database file.
        path: PathBuf,
        /// Both counts.
        mismatch: CountsMismatch,
    },
    /// The SQLite library is too old to be trusted with a write-ahead log.
    #[error("SQLite {found} has a bug that can damage write-ahead logs; 3.51.3 or newer is needed")]
    TooOld {
        /// The library's version.
        found: &'static str,
    },
    /// The file system refused.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// SQLite refused.
    #[error("{path}: {source}")]
    Sqlite {
        /// The database file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
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
