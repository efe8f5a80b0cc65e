//! Opening a store: lock, integrity, schema, partition counts, connections.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ff_core::partition::PartitionCounts;
use ff_core::time::Timestamp;
use rusqlite::{Connection, OpenFlags, Row};

use crate::backend::SqliteBackend;
use crate::batch::WriterState;
use crate::checkpoint::Checkpointer;
use crate::clock::Clock;
use crate::column::{from_json, moment, text, to_json};
use crate::database::Database;
use crate::error::Problem;
use crate::lock::{self, Lock};
use crate::migrate::migrate;
use crate::options::Options;
use crate::queues::Queues;
use crate::reader::Readers;
use crate::shared::Shared;
use crate::sql::{self, with};
use crate::writer::Writer;

/// The oldest SQLite whose write-ahead log can be trusted.
const SQLITE_MIN: i32 = 3_051_003;
/// Pages the writer keeps in memory, in KiB. Not more: a commit that splits a page of an index in the middle goes through all
/// of them, and the system has its own copy.
const WRITER_CACHE_KIB: u32 = 16_384;
/// Statements kept compiled per connection.
const STATEMENTS: usize = 256;
/// A file up to this size is checked whole when it is opened; a larger one on request.
const CHECKED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Opens the file, or says what is wrong with it.
pub(crate) fn open(options: &Options) -> Result<SqliteBackend, Problem> {
    if rusqlite::version_number() < SQLITE_MIN {
        return Err(Problem::TooOld(rusqlite::version()));
    }
    let path = &options.path;
    let lock = Lock::take(path)?;
    // SQLite creates files that everybody may read; this one is created before it can.
    lock::private().create(true).truncate(false).open(path)?;
    let mut connection = connect(options, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    check_integrity(&connection, path)?;
    migrate(&mut connection)?;
    let clock = Clock::start(check_counts(&Database::new(&connection), options.counts)?);
    if let Some(ahead) = clock.ahead() {
        let path = path.display();
        tracing::warn!(%path, %ahead, "the store's last time is ahead of this machine's clock: set the clock right, or wait");
    }
    let state = WriterState::load(&Database::new(&connection))?;
    let queues = Queues::load(&Database::new(&connection))?;
    let shared = Arc::new(Shared::new(clock, queues, options));
    let readers = (0..options.readers.max(1)).map(|_| connect(options, OpenFlags::SQLITE_OPEN_READ_ONLY));
    let checkpointer = Checkpointer::start(connect(options, OpenFlags::SQLITE_OPEN_READ_WRITE)?)?;
    Ok(SqliteBackend {
        readers: Readers::start(readers.collect::<Result<_, _>>()?)?,
        writer: Writer::start(connection, checkpointer, Arc::clone(&shared), state)?,
        shared,
        _lock: lock,
    })
}

fn connect(options: &Options, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&options.path, flags)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.busy_timeout(Duration::from_secs(5))?;
    let pragmas = if flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
        format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = {};
             PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -{WRITER_CACHE_KIB}; PRAGMA temp_store = MEMORY;",
            options.durability.pragma()
        )
    } else {
        "PRAGMA query_only = ON; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;".to_owned()
    };
    connection.execute_batch(&pragmas)?;
    Ok(connection)
}

fn check_integrity(connection: &Connection, path: &Path) -> Result<(), Problem> {
    let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    if size > CHECKED_BYTES_MAX {
        return Ok(());
    }
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found == "ok" {
        return Ok(());
    }
    Err(Problem::Damaged(found))
}

/// Partition counts are written once, at the first start, and must be the same ever after. Answers the last time the store knew.
fn check_counts(database: &Database<'_>, counts: PartitionCounts) -> Result<Timestamp, Problem> {
    database.run(with!(sql::CREATE_COUNTS, counts: to_json(&counts)?))?;
    let read = |row: &Row<'_>| Ok((from_json(text(row, 0)?), moment(row, 1)?));
    let (stored, clock) = database
        .find(with!(sql::READ_STORE), read)?
        .ok_or_else(|| Problem::Damaged("it does not know itself".to_owned()))?;
    let unreadable = |error| Problem::Damaged(format!("partition counts: {error}"));
    let stored: PartitionCounts = stored.map_err(unreadable)?;
    counts.verify(&stored)?;
    Ok(clock)
}
