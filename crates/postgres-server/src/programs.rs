//! Where the programs of PostgreSQL are.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Where this crate was built, and where tests run.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The directory of `postgres`, `initdb` and the others: `FF_POSTGRES_BIN`, else what `scripts/postgres-server` finds.
///
/// # Panics
///
/// When there is none.
pub fn programs() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| named().unwrap_or_else(found))
}

fn named() -> Option<PathBuf> {
    env::var_os("FF_POSTGRES_BIN")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}

fn found() -> PathBuf {
    let script = Command::new("scripts/postgres-server")
        .current_dir(REPOSITORY)
        .output()
        .expect("could not run scripts/postgres-server; set FF_POSTGRES_BIN to the directory of a PostgreSQL server");
    assert!(
        script.status.success(),
        "there is no PostgreSQL server: {}",
        String::from_utf8_lossy(&script.stderr)
    );
    PathBuf::from(String::from_utf8_lossy(&script.stdout).trim_end())
}
