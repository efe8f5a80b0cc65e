//! The schema: embedded files, applied once each, checked by their text.

use ff_core::digest::Digest;
use rusqlite::{Connection, TransactionBehavior};

use crate::error::Problem;
use crate::sql;

/// Marks a file as one of ours: "FFab".
const APPLICATION_ID: i32 = 0x4646_6162;

/// Every migration, in order; the position is the version.
const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_initial.sql")];

/// The version of the schema that this program works with.
pub(crate) const VERSION: usize = MIGRATIONS.len();

/// Makes the tables in an empty database.
#[cfg(test)]
pub(crate) fn create_tables(connection: &Connection) -> rusqlite::Result<()> {
    MIGRATIONS.iter().try_for_each(|text| connection.execute_batch(text))
}

/// Brings the schema up to date, or says why this file cannot be used.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), Problem> {
    check_owner(connection)?;
    connection.execute_batch(sql::CREATE_MIGRATION_TABLE.text)?;
    let applied = applied(connection)?;
    check_applied(&applied)?;
    for (version, text) in (1..).zip(MIGRATIONS).skip(applied.len()) {
        apply(connection, version, text)?;
    }
    Ok(())
}

/// Refuses a database that somebody else made.
fn check_owner(connection: &Connection) -> Result<(), Problem> {
    let owner: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (owner, tables) {
        (APPLICATION_ID, _) => Ok(()),
        (0, 0) => Ok(connection.pragma_update(None, "application_id", APPLICATION_ID)?),
        _ => Err(Problem::Foreign),
    }
}

fn applied(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT checksum FROM migration ORDER BY version")?;
    let rows = statement.query_map([], |row| row.get(0))?;
    rows.collect()
}

fn check_applied(applied: &[String]) -> Result<(), Problem> {
    let (found, known) = (applied.len(), VERSION);
    if found > known {
        return Err(Problem::Newer { found, known });
    }
    let mut pairs = applied.iter().zip(MIGRATIONS);
    let diverged = pairs.position(|(applied, text)| *applied != checksum(text));
    diverged.map_or(Ok(()), |index| Err(Problem::Diverged(index + 1)))
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
