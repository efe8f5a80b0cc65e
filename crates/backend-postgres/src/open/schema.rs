//! The schema: embedded files, applied once each under a lock, checked by their text; and the library beside it.

use ff_core::digest::Digest;
use ff_core::partition::PartitionCounts;
use tokio_postgres::{Client, GenericClient, Transaction};

use crate::error::{OpenError, corrupt};
use crate::library::LIBRARY;

/// Every migration, in order; the position is the version.
pub(crate) const MIGRATIONS: &[&str] = &[include_str!("../../migrations/0001_initial.sql")];

/// Whoever migrates holds this lock: "FFab".
const LOCK: i64 = 0x4646_6162;

/// The version of the schema that this program works with.
pub(super) const fn version() -> usize {
    MIGRATIONS.len()
}

/// Brings the schema up to date; how many migrations that took. Everything happens in one transaction, so that of two who start at once
/// one waits, and a failure leaves nothing.
pub(super) async fn migrate(client: &mut Client) -> Result<usize, OpenError> {
    if is_ready(client).await? {
        check_library(client).await?;
        return Ok(0);
    }
    let transaction = client.transaction().await?;
    transaction
        .execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])
        .await?;
    transaction
        .batch_execute(
            "CREATE TABLE IF NOT EXISTS migration (
                version    integer PRIMARY KEY,
                checksum   text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now()
            )",
        )
        .await?;
    let applied = applied(&transaction).await?;
    for (version, text) in (1_i32..).zip(MIGRATIONS).skip(applied.len()) {
        transaction.batch_execute(text).await?;
        let insert = "INSERT INTO migration (version, checksum) VALUES ($1, $2)";
        transaction.execute(insert, &[&version, &checksum(text)]).await?;
    }
    install_library(&transaction).await?;
    check_library(transaction.client()).await?;
    transaction.commit().await?;
    Ok(MIGRATIONS.len() - applied.len())
}

/// Refuses a library that may not be called, or that was made beside other tables: its functions would write there.
async fn check_library(client: &Client) -> Result<(), OpenError> {
    let bound = "SELECT bool_and(proconfig[1] = 'search_path=' || $1 || ', ' || quote_ident(current_schema()::text)), \
        bool_and(has_schema_privilege(pronamespace, 'USAGE')) FROM pg_proc \
        WHERE pronamespace = to_regnamespace($1) AND proconfig IS NOT NULL";
    let row = client.query_one(bound, &[&LIBRARY.schema]).await?;
    match (row.try_get(0)?, row.try_get(1)?) {
        (Some(true), Some(true)) => Ok(()),
        (Some(true), _) => Err(OpenError::Rights(format!(
            "permission denied for schema {}",
            LIBRARY.schema
        ))),
        _ => Err(OpenError::Shared),
    }
}

/// Whether nothing is left to do, which who may not change the schema is glad of.
async fn is_ready(client: &Client) -> Result<bool, OpenError> {
    let row = client
        .query_one(
            "SELECT to_regclass('migration') IS NOT NULL, to_regnamespace($1) IS NOT NULL",
            &[&LIBRARY.schema],
        )
        .await?;
    if !row.try_get(0)? {
        return Ok(false);
    }
    let applied = applied(client).await?;
    Ok(applied.len() == MIGRATIONS.len() && row.try_get(1)?)
}

/// The migrations that were applied, which are ours and none of a newer release.
async fn applied(client: &impl GenericClient) -> Result<Vec<String>, OpenError> {
    let all = "SELECT checksum FROM migration ORDER BY version";
    let rows = client.query(all, &[]).await?;
    let applied: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    check_applied(&applied)?;
    Ok(applied)
}

fn check_applied(applied: &[String]) -> Result<(), OpenError> {
    let (found, known) = (applied.len(), MIGRATIONS.len());
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    let mut pairs = applied.iter().zip(MIGRATIONS);
    let diverged = pairs.position(|(applied, text)| *applied != checksum(text));
    diverged.map_or(Ok(()), |index| Err(OpenError::Diverged(index + 1)))
}

fn checksum(text: &str) -> String {
    Digest::of("migration", [text.as_bytes()]).to_string()
}

/// Functions that are called from outside keep the search path they are made under (`SET search_path FROM CURRENT`): they find the types of
/// the library, and the tables where they were made. What they call in turn finds them too.
async fn install_library(transaction: &Transaction<'_>) -> Result<(), OpenError> {
    let schema = &LIBRARY.schema;
    let known = "SELECT to_regnamespace($1) IS NOT NULL, quote_ident(current_schema()::text)";
    let row = transaction.query_one(known, &[schema]).await?;
    if row.try_get(0)? {
        return Ok(());
    }
    let tables: String = row.try_get(1)?;
    let text = format!(
        "CREATE SCHEMA {schema}; SET LOCAL search_path = {schema}, {tables}; {}",
        LIBRARY.text
    );
    transaction.batch_execute(&text).await?;
    transaction
        .batch_execute(&format!("SET LOCAL search_path = {tables}"))
        .await?;
    Ok(())
}

/// Creates the counts, or compares with those that are there; the time the store was last known to have reached.
pub(super) async fn check_counts(client: &Client, counts: PartitionCounts) -> Result<i64, OpenError> {
    let own = serde_json::to_string(&counts).expect("counts are a document");
    let create = "INSERT INTO store (partition_counts) VALUES ($1::text::jsonb) ON CONFLICT DO NOTHING";
    client.execute(create, &[&own]).await?;
    let row = client
        .query_one("SELECT partition_counts::text, clock FROM store", &[])
        .await?;
    let stored: PartitionCounts = serde_json::from_str(row.try_get(0)?).map_err(corrupt)?;
    counts.verify(&stored).map_err(OpenError::Counts)?;
    Ok(row.try_get(1)?)
}
