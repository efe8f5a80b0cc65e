//! Opening a store: lock, integrity, schema, partition counts, connections.

use std::path::Path;
use std::time::Duration;

use ff_core::partition::PartitionCounts;
use ff_core::time::Timestamp;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::OpenError;
use crate::lock::{self, Lock};
use crate::migrate::migrate;
use crate::options::Options;
use crate::record::to_json;

/// The oldest SQLite whose write-ahead log can be trusted.
const SQLITE_MIN: i32 = 3_051_003;
/// Pages the writer keeps in memory, in KiB. Not more: a commit that splits a page of an index in the middle goes through all
/// of them, and the system has its own copy.
const WRITER_CACHE_KIB: u32 = 16_384;
/// Statements kept compiled per connection.
const STATEMENTS: usize = 256;
/// A file up to this size is checked whole when it is opened; a larger one on request.
const CHECKED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What an opened file consists of.
pub(crate) struct Opened {
    pub(crate) lock: Lock,
    pub(crate) writer: Connection,
    pub(crate) checkpointer: Connection,
    pub(crate) readers: Vec<Connection>,
    /// The last time the store knew.
    pub(crate) clock: Timestamp,
}

/// Opens the file, or says what is wrong with it.
pub(crate) fn open(options: &Options) -> Result<Opened, OpenError> {
    if rusqlite::version_number() < SQLITE_MIN {
        return Err(OpenError::TooOld {
            found: rusqlite::version(),
        });
    }
    let path = &options.path;
    let lock = Lock::take(path)?;
    create_private(path)?;
    let mut writer = connect(options, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    check_integrity(&writer, path)?;
    migrate(&mut writer, path)?;
    check_counts(&writer, path, options.counts)?;
    let failed = |source| refused(path, source);
    let clock: u64 = writer
        .query_row("SELECT clock FROM store", [], |row| row.get(0))
        .map_err(failed)?;
    let readers = (0..options.readers.max(1)).map(|_| connect(options, OpenFlags::SQLITE_OPEN_READ_ONLY));
    Ok(Opened {
        lock,
        readers: readers.collect::<Result<_, _>>()?,
        writer,
        checkpointer: connect(options, OpenFlags::SQLITE_OPEN_READ_WRITE)?,
        clock: Timestamp::from_millis(clock),
    })
}

/// SQLite creates files that everybody may read; this one is created before it can.
fn create_private(path: &Path) -> Result<(), OpenError> {
    let created = lock::private().create(true).truncate(false).open(path);
    created.map(|_| ()).map_err(|source| OpenError::File {
        path: path.to_owned(),
        source,
    })
}

fn connect(options: &Options, flags: OpenFlags) -> Result<Connection, OpenError> {
    let path = &options.path;
    let failed = |source| refused(path, source);
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.busy_timeout(Duration::from_secs(5)).map_err(failed)?;
    let pragmas = if flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
        format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = {};
             PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -{WRITER_CACHE_KIB}; PRAGMA temp_store = MEMORY;",
            options.durability.pragma()
        )
    } else {
        "PRAGMA query_only = ON; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;".to_owned()
    };
    connection.execute_batch(&pragmas).map_err(failed)?;
    Ok(connection)
}

/// How a refusal of SQLite reads to whoever opens the store.
pub(crate) fn refused(path: &Path, source: rusqlite::Error) -> OpenError {
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => OpenError::Damaged {
            path: path.to_owned(),
            detail: source.to_string(),
        },
        _ => OpenError::Sqlite {
            path: path.to_owned(),
            source,
        },
    }
}

fn check_integrity(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    if size > CHECKED_BYTES_MAX {
        return Ok(());
    }
    let found: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|source| refused(path, source))?;
    if found == "ok" {
        return Ok(());
    }
    Err(OpenError::Damaged {
        path: path.to_owned(),
        detail: found,
    })
}

/// Partition counts are written once, at the first start, and must be the same ever after.
fn check_counts(connection: &Connection, path: &Path, counts: PartitionCounts) -> Result<(), OpenError> {
    let failed = |source| refused(path, source);
    let given = to_json(&counts).map_err(failed)?;
    connection
        .execute(include_str!("../sql/create_counts.sql"), [&given])
        .map_err(failed)?;
    let stored: String = connection
        .query_row(include_str!("../sql/read_counts.sql"), [], |row| row.get(0))
        .map_err(failed)?;
    let stored: PartitionCounts = serde_json::from_str(&stored).map_err(|error| OpenError::Damaged {
        path: path.to_owned(),
        detail: format!("partition counts: {error}"),
    })?;
    counts.verify(&stored).map_err(|mismatch| OpenError::Counts {
        path: path.to_owned(),
        mismatch,
    })
}
