//! Whether a server can be used.

use tokio_postgres::Client;

use super::obstacle::Obstacle;
use crate::error::OpenError;
use crate::options::Options;

/// The oldest version that works.
const NEEDED: u32 = 14;

/// Refuses a server that is too old, takes no writes, or forgets them.
pub(super) async fn check(client: &Client, options: &Options) -> Result<(), Obstacle> {
    let row = client
        .query_one(
            "SELECT current_setting('server_version'), current_setting('server_version_num')::int4, pg_is_in_recovery(), \
             current_setting('fsync'), current_setting('synchronous_commit')",
            &[],
        )
        .await?;
    let number: i32 = row.try_get(1)?;
    if number.unsigned_abs() / 10_000 < NEEDED {
        let found: String = row.try_get(0)?;
        return Err(OpenError::Version { found, needed: NEEDED }.into());
    }
    if row.try_get(2)? {
        // It may be promoted in a moment.
        return Err(Obstacle::Passing(OpenError::Standby));
    }
    if options.may_lose_writes {
        return Ok(());
    }
    for (column, name) in [(3, "fsync"), (4, "synchronous_commit")] {
        let value: String = row.try_get(column)?;
        if value == "off" {
            return Err(OpenError::LosesWrites(format!("{name} is off")).into());
        }
    }
    Ok(())
}

/// What tells this cluster from others.
pub(super) async fn system_identifier(client: &Client) -> Result<i64, Obstacle> {
    let row = client
        .query_one("SELECT system_identifier FROM pg_control_system()", &[])
        .await?;
    Ok(row.try_get(0)?)
}
