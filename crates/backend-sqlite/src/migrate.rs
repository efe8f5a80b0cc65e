//! The schema: embedded files, applied once each, checked by their text.

use std::path::Path;

use ff_core::digest::Digest;
use rusqlite::{Connection, TransactionBehavior};

use crate::error::OpenError;

/// Marks a file as one of ours: "FFab".
const APPLICATION_ID: i32 = 0x4646_6162;

/// Every migration, in order; the position is the version.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_initial.sql"),
    include_str!("../migrations/0002_steps.sql"),
];

/// The version of the schema that this program works with.
pub(crate) const fn version() -> usize {
    MIGRATIONS.len()
}

/// Makes the tables in an empty database.
#[cfg(test)]
pub(crate) fn create_tables(connection: &Connection) -> rusqlite::Result<()> {
    MIGRATIONS.iter().try_for_each(|text| connection.execute_batch(text))
}

/// Brings the schema up to date, or says why this file cannot be used.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let failed = |source| crate::open::refused(path, source);
    check_owner(connection, path)?;
    connection
        .execute_batch(include_str!("../sql/create_migration_table.sql"))
        .map_err(failed)?;
    let applied = applied(connection).map_err(failed)?;
    check_applied(&applied, path)?;
    for (version, text) in (1..).zip(MIGRATIONS).skip(applied.len()) {
        apply(connection, version, text).map_err(failed)?;
    }
    Ok(())
}

/// Refuses a database that somebody else made.
fn check_owner(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let failed = |source| crate::open::refused(path, source);
    let owner: i32 = connection
        .query_row("PRAGMA application_id", [], |row| row.get(0))
        .map_err(failed)?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(failed)?;
    match (owner, tables) {
        (APPLICATION_ID, _) => Ok(()),
        (0, 0) => connection
            .pragma_update(None, "application_id", APPLICATION_ID)
            .map_err(failed),
        _ => Err(OpenError::Foreign { path: path.to_owned() }),
    }
}

fn applied(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT checksum FROM migration ORDER BY version")?;
    let rows = statement.query_map([], |row| row.get(0))?;
    rows.collect()
}

fn check_applied(applied: &[String], path: &Path) -> Result<(), OpenError> {
    let version = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    if applied.len() > MIGRATIONS.len() {
        return Err(OpenError::Newer {
            path: path.to_owned(),
            found: version(applied.len()),
            known: version(MIGRATIONS.len()),
        });
    }
    match applied
        .iter()
        .zip(MIGRATIONS)
        .position(|(applied, text)| *applied != checksum(text))
    {
        None => Ok(()),
        Some(index) => Err(OpenError::Diverged {
            path: path.to_owned(),
            version: version(index + 1),
        }),
    }
}

fn apply(connection: &mut Connection, version: u32, text: &str) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(text)?;
    transaction.execute(
        "INSERT INTO migration (version, checksum, applied_at) VALUES (?1, ?2, unixepoch() * 1000)",
        (version, checksum(text)),
    )?;
    transaction.commit()
}

fn checksum(text: &str) -> String {
    Digest::of("migration", [text.as_bytes()]).to_string()
}
