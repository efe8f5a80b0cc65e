//! Whether a server can be used.

use tokio_postgres::Client;

use crate::error::OpenError;
use crate::options::Options;

/// The oldest version that works.
const NEEDED: u32 = 14;

/// Refuses a server that is too old, takes no writes, or forgets them.
pub(super) async fn check(client: &Client, options: &Options) -> Result<(), OpenError> {
    let row = client
        .query_one(
            "SELECT current_setting('server_version'), current_setting('server_version_num')::int4, pg_is_in_recovery(), \
             current_setting('fsync'), current_setting('synchronous_commit')",
            &[],
        )
        .await?;
    check_version(row.try_get(0)?, row.try_get(1)?)?;
    if row.try_get(2)? {
        // It may be promoted in a moment.
        return Err(OpenError::Standby);
    }
    if options.may_lose_writes {
        return Ok(());
    }
    for (column, name) in [(3, "fsync"), (4, "synchronous_commit")] {
        let value: String = row.try_get(column)?;
        if value == "off" {
            return Err(OpenError::LosesWrites(format!("{name} is off")));
        }
    }
    Ok(())
}

/// A version as people write it, and as a number: the first two digits count.
fn check_version(found: String, number: i32) -> Result<(), OpenError> {
    if number.unsigned_abs() / 10_000 < NEEDED {
        return Err(OpenError::Version { found, needed: NEEDED });
    }
    Ok(())
}

/// What tells this cluster from others.
pub(super) async fn system_identifier(client: &Client) -> Result<i64, OpenError> {
    let row = client
        .query_one("SELECT system_identifier FROM pg_control_system()", &[])
        .await?;
    Ok(row.try_get(0)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_too_old_is_told_which_one_is_needed() {
        let refused = check_version("13.16 (Debian 13.16-1)".to_owned(), 130_016).unwrap_err();
        let said = "PostgreSQL 13.16 (Debian 13.16-1) is too old: 14 or newer is needed";
        assert_eq!(refused.to_string(), said);
        for (found, number) in [("9.6.24", 90_624), ("10.23", 100_023)] {
            let refused = check_version(found.to_owned(), number);
            assert!(matches!(refused, Err(OpenError::Version { .. })), "{found}");
        }
        for (found, number) in [("14.0", 140_000), ("15.18", 150_018), ("18beta1", 180_000)] {
            assert!(check_version(found.to_owned(), number).is_ok(), "{found}");
        }
    }
}
